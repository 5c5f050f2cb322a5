package net

import "github.com/penstock-go/penstock/transform"

// Augmented are the steps to a image to learn from: a random part, mirrored or
// not.
func Augmented(size int) transform.Step {
	return transform.Compose(transform.Resize(size+size/8), transform.RandomCrop(size),
		transform.RandomHorizontalFlip(0.5), normal())
}

// Plain are the steps to a image to judge.
func Plain(size int) transform.Step {
	return transform.Compose(transform.Resize(size+size/8), transform.CenterCrop(size), normal())
}

func normal() transform.Step {
	return transform.Compose(transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))
}
