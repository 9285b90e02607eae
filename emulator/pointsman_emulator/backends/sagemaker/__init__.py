"""SageMaker inference: models, endpoints and inference components; everything else is moto's."""
