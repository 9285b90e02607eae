"""Application Auto Scaling: moto's, and targets on inference components that move their copies."""
