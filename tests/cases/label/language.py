import re

import torch
from torch import nn
from transformers import AutoModelForCausalLM


def tokenize(text):
    """Split a text into lowercase words."""
    return re.findall(r"\w+", text.lower())


def generate(model: AutoModelForCausalLM, prompt_tokens, max_new_tokens):
    """Generate tokens after a prompt, greedily, with a trained language model."""
    tokens = prompt_tokens
    with torch.no_grad():
        for _ in range(max_new_tokens):
            tokens = torch.cat([tokens, model(tokens).logits[-1:].argmax(-1)])
    return tokens


def word_error_rate(references, hypotheses):
    """Compute the share of wrong words in sentences against the ground truth."""
    wrong = sum(a != b for r, h in zip(references, hypotheses) for a, b in zip(r.split(), h.split()))
    return wrong / sum(len(sentence.split()) for sentence in references)


class SentenceClassifier(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_classes):
        """Initialise the embedding of tokens and the classification layer."""
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.classifier = nn.Linear(embed_dim, num_classes)

    def forward(self, token_ids):
        """Return the logits of the classes for a batch of sentences."""
        return self.classifier(self.embedding(token_ids).mean(dim=1))
