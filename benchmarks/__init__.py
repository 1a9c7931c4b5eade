"""Speed, measured side by side with a floor or a peer in one run."""
