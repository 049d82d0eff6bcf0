"""Requests through the providers' batch APIs: half the price, an answer within a day."""
