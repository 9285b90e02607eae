"""SQS: moto's, with a memory for deduplication, and told when a message arrives."""
