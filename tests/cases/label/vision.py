import cv2
import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn


def to_grayscale(image):
    """Convert an RGB image to a grayscale one.

    Args:
        image: tensor of shape (B, 3, H, W).
    """
    red, green, blue = image.unbind(dim=1)
    return (0.299 * red + 0.587 * green + 0.114 * blue).unsqueeze(1)


def load_picture(path, size):
    """Read a picture from disk and resize it."""
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB").resize(size))


def draw_caption(image, caption, color=(255, 0, 0)):
    """Draw a line of letters onto an image."""
    return cv2.putText(image.copy(), caption, (4, 20), cv2.FONT_HERSHEY_PLAIN, 1.0, color)


class RandomShift:
    def __init__(self, most):
        self.most = most

    def __call__(self, img):
        """Shift an image by a random number of pixels."""
        by = int(torch.randint(-self.most, self.most + 1, ()))
        return torch.roll(img, by, dims=-1)


class SmallConvNet(nn.Module):
    def __init__(self, in_channels, hidden_channels):
        """Build two convolution layers with normalisation."""
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, hidden_channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(hidden_channels)
        self.conv2 = nn.Conv2d(hidden_channels, hidden_channels, 3, padding=1)

    def forward(self, images):
        """Return the features of a batch of images."""
        hidden = F.relu(self.norm(self.conv1(images)))
        return F.relu(self.conv2(hidden))


def psnr(image, reference, peak=1.0):
    """Compute the peak signal to noise ratio between an image and the ground truth."""
    error = ((image - reference) ** 2).mean()
    return 10 * torch.log10(peak**2 / error)
