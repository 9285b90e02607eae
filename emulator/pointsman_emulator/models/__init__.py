"""How the services behave, as pure models: no moto, no boto3, no wall clock. Time is epoch seconds."""
