package transform_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/penstock-go/penstock/transform"
)

// A configuration file has the steps of a model. What it says is checked before an image is read.
func ExampleFromJSON() {
	list, err := transform.FromJSON([]byte(`{"version": 1, "steps": [
		{"Resize": {"size": 256, "interpolation": "bicubic"}},
		{"CenterCrop": {"size": 224}},
		{"ToTensor": {}},
		{"Normalize": {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}}
	]}`))
	if err != nil {
		log.Fatal(err)
	}
	model, err := transform.Compile(list...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(model.Spec())
	_, err = transform.FromJSON([]byte(`{"version": 1, "steps": [{"CenterCrop": {"size": "224"}}, {"RandomFlip": {}}]}`))
	fmt.Println(err)
	// Output:
	// image float32 (3, 224, 224)
	// transform: steps[0].CenterCrop.size: want a whole number, or height and width, not "224"
	// transform: steps[1]: no step is named "RandomFlip"
}

// Steps are a part of a configuration, which package json writes and reads.
func ExampleList() {
	type configuration struct {
		Batch int            `json:"batch"`
		Train transform.List `json:"train"`
	}
	data, err := json.Marshal(configuration{128, transform.List{
		transform.RandomResizedCrop(224, transform.Scale(0.2, 1)),
		transform.RandomApply(0.8, transform.ColorJitter(0.4, 0.4, 0.4, 0.1)),
		transform.ToTensor(),
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(data))
	var c configuration
	if err := json.Unmarshal(data, &c); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Train)
	// Output:
	// {"batch":128,"train":{"version":1,"steps":[{"RandomResizedCrop":{"scale":[0.2,1],"size":224}},{"RandomApply":{"p":0.8,"transforms":[{"ColorJitter":{"brightness":0.4,"contrast":0.4,"hue":0.1,"saturation":0.4}}]}},{"ToTensor":{}}]}}
	// [RandomResizedCrop(224, Scale(0.2, 1)) RandomApply(0.8, ColorJitter(0.4, 0.4, 0.4, 0.1)) ToTensor()]
}
