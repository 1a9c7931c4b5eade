import numpy as np
import pandas as pd


def load_ratings(path) -> pd.DataFrame:
    """Load a table of ratings, one row per user and item."""
    return pd.read_csv(path, names=["user", "item", "rating"])


def recommend_items(user_factors, item_factors, user_id, k):
    """Recommend the items with the best predicted rating to a user."""
    scores = item_factors @ user_factors[user_id]
    return np.argsort(-scores)[:k]


def ndcg_at_k(rating_true: pd.DataFrame, rating_pred: pd.DataFrame, k=10):
    """Compute the normalised discounted gain of the items recommended to each user."""
    joined = rating_pred.merge(rating_true, on=["user", "item"])
    gains = joined.groupby("user").head(k)["rating"]
    return float((gains / np.log2(np.arange(len(gains)) + 2)).sum())
