"""A program as model files that other tools open, and their solutions back."""

from memopt.export.formats import FORMATS, Export
from memopt.export.reading import RereadDiffers

__all__ = ["FORMATS", "Export", "RereadDiffers"]
