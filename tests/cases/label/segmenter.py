import torch
from torch import nn


def overlay_masks(image, masks, alpha=0.5):
    """Draw segmentation masks over an image."""
    colors = torch.rand(len(masks), 3, 1, 1)
    return (1 - alpha) * image + alpha * (masks[:, None] * colors).sum(dim=0)


class SoftDiceLoss(nn.Module):
    def forward(self, logits, masks):
        """Compute the dice loss of a segmentation, per pixel."""
        shares = logits.sigmoid()
        overlap = 2 * (shares * masks).sum()
        return 1 - overlap / (shares.sum() + masks.sum() + 1e-6)


def mean_iou(pred_masks, gt_masks):
    """Compute the mean IoU of predicted and true segmentation masks."""
    overlap = (pred_masks & gt_masks).sum(dim=(1, 2))
    union = (pred_masks | gt_masks).sum(dim=(1, 2))
    return (overlap / union.clamp(min=1)).float().mean()
