"""What moto lacks, in moto's own form: a backend, its responses, its urls, its CloudFormation types."""
