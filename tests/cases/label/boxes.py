import torch
from torchvision.ops import box_iou, nms


def corners_to_centers(boxes):
    """Convert bounding boxes from (x1, y1, x2, y2) to (cx, cy, w, h)."""
    x1, y1, x2, y2 = boxes.unbind(-1)
    return torch.stack([(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1], dim=-1)


def detect(model, image, score_threshold, iou_threshold):
    """Detect objects in an image with a trained model: boxes after non-maximum suppression."""
    with torch.no_grad():
        boxes, scores = model(image)
    sure = scores > score_threshold
    kept = nms(boxes[sure], scores[sure], iou_threshold)
    return boxes[sure][kept]


def detection_recall(boxes, gt_boxes, iou_threshold=0.5):
    """Compute the share of ground truth boxes that were found: recall at an IoU."""
    return (box_iou(gt_boxes, boxes).amax(dim=1) > iou_threshold).float().mean()


class AnchorGenerator(torch.nn.Module):
    def __init__(self, sizes, ratios):
        """Initialise anchors of several sizes and ratios."""
        super().__init__()
        self.register_buffer("anchors", torch.cartesian_prod(sizes, ratios))
