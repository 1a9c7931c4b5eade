"""The frameworks that projects are told by: name under which one is imported -> kind of framework."""

from __future__ import annotations

from collections.abc import Mapping

KINDS: Mapping[str, str] = {
    **dict.fromkeys(
        # Frameworks themselves, then libraries that are only used along with one of them.
        ("torch", "tensorflow", "keras", "tf_keras", "jax", "flax", "haiku", "optax", "equinox", "mxnet", "paddle",
         "chainer", "theano", "lasagne", "aesara", "pytensor", "caffe", "caffe2", "cntk", "dynet", "mindspore",
         "oneflow", "megengine", "jittor", "tinygrad", "mlx", "tflearn", "tflite_runtime", "onnxruntime",
         "lightning", "pytorch_lightning", "ignite", "fastai", "skorch", "catalyst", "accelerate", "deepspeed",
         "torchvision", "torchaudio", "torchtext", "torchmetrics", "timm", "kornia", "monai", "transformers",
         "diffusers", "peft", "sentence_transformers", "allennlp", "fairseq", "torch_geometric", "dgl", "spektral",
         "pyro", "numpyro", "gpytorch", "botorch", "objax", "trax", "chex", "rlax", "sonnet", "tensorflow_probability",
         "tensorflow_addons", "tensorflow_datasets", "tensorflow_hub", "stable_baselines3", "mmcv", "mmengine",
         "detectron2", "ultralytics"),
        "deep learning",
    ),
    **dict.fromkeys(
        ("sklearn", "xgboost", "lightgbm", "catboost", "statsmodels", "pymc", "pymc3", "gensim", "spacy", "nltk",
         "cuml", "river", "imblearn", "hmmlearn", "pyod", "umap", "hdbscan", "shap", "surprise", "autogluon", "h2o",
         "gym", "gymnasium"),
        "machine learning",
    ),
    **dict.fromkeys(
        ("numpy", "scipy", "pandas", "polars", "xarray", "cupy", "dask", "numba", "einops", "opt_einsum", "autograd",
         "cv2", "skimage"),
        "arrays",
    ),
}  # fmt: skip
