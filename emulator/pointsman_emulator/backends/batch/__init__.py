"""AWS Batch for SageMaker training: service environments, queues, fair-share policies, service jobs, snapshots."""
