import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import mean_squared_error
from sklearn.utils import check_array, check_X_y


def fill_gaps(df: pd.DataFrame, columns):
    """Clean a data frame: replace missing values of some columns by their median."""
    filled = df.copy()
    for column in columns:
        filled[column] = filled[column].fillna(filled[column].median())
    return filled


def split_rows(X, y, share=0.8):
    """Split arrays into a train and a test part.

    X : array-like of shape (n_samples, n_features)
    """
    cut = int(len(X) * share)
    return X[:cut], X[cut:], y[:cut], y[cut:]


class CentroidClassifier(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        """Fit the centroids of the classes.

        X : array-like of shape (n_samples, n_features)
        """
        X, y = check_X_y(X, y)
        self.classes_ = np.unique(y)
        self.centroids_ = np.stack([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        """Predict the class labels of samples.

        X : array-like of shape (n_samples, n_features)
        """
        X = check_array(X)
        distances = ((X[:, None] - self.centroids_) ** 2).sum(axis=-1)
        return self.classes_[distances.argmin(axis=1)]


class LineRegressor(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        """Fit by least squares.

        X : array-like of shape (n_samples, n_features)
        """
        X, y = check_X_y(X, y)
        self.coef_, *_ = np.linalg.lstsq(X, y, rcond=None)
        return self

    def predict(self, X):
        """Predict a continuous target with the fitted regression.

        X : array-like of shape (n_samples, n_features)
        """
        return check_array(X) @ self.coef_


def root_mean_squared_error(y_true, y_pred):
    """Compute the root of the mean squared error of a regression."""
    return np.sqrt(mean_squared_error(y_true, y_pred))


def balanced_accuracy(y_true, y_pred, n_classes):
    """Compute the mean recall over classes of a classification."""
    recalls = [np.mean(y_pred[y_true == label] == label) for label in range(n_classes)]
    return float(np.mean(recalls))
