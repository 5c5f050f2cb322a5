package net

import "github.com/penstock-go/penstock/transform"

// Augmented prepares a training image: a random part of it, flipped or not.
func Augmented(size int) transform.Step {
	return transform.Compose(transform.Resize(size+size/8), transform.RandomCrop(size),
		transform.RandomHorizontalFlip(0.5), normal())
}

// Plain prepares an image for evaluation.
func Plain(size int) transform.Step {
	return transform.Compose(transform.Resize(size+size/8), transform.CenterCrop(size), normal())
}

func normal() transform.Step {
	return transform.Compose(transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))
}
