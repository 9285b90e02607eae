"""CloudWatch: moto's metrics and alarms, made to evaluate."""
