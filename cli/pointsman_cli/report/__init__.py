"""The page of `pointsman simulate --report`: plots, the figures behind them, and what they do not mean."""
