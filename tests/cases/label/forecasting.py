import numpy as np
import pandas as pd


def make_windows(series, lags, horizon):
    """Convert a time series to pairs of lagged values and values to forecast."""
    last = len(series) - lags - horizon + 1
    past = np.stack([series[start : start + lags] for start in range(last)])
    future = np.stack([series[start + lags : start + lags + horizon] for start in range(last)])
    return past, future


def forecast(model, series: pd.Series, horizon):
    """Predict the next values of a time series with a fitted model."""
    known = list(series)
    for _ in range(horizon):
        known.append(model.predict(known))
    return known[len(series) :]


def smape(y_true, y_pred):
    """Compute the symmetric percentage error of a forecast."""
    return float(np.mean(2 * np.abs(y_pred - y_true) / (np.abs(y_true) + np.abs(y_pred))))
