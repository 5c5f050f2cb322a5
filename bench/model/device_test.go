package model_test

import (
	"os"
	"testing"

	"github.com/penstock-go/penstock/bench/model"
	"github.com/penstock-go/penstock/gpu/cuda"
)

// first are the first logits of each net for the images of this test, on a processor.
var first = map[string][3]float32{
	"conv-small":   {0.0070194704, -0.3028838, 0.12131695},
	"conv-medium":  {0.04152847, -0.28186625, -0.5990324},
	"resnet-small": {2.890943, 12.449366, 7.371684},
	"mixer":        {0.01771831, -0.2618982, 0.09679617},
	"vit":          {-0.30341634, 1.0775827, -0.48266205},
}

// A program with the tag cuda has no VM for the processor, so that both kinds of program compare with the same numbers. The
// device may be the fake one; see gpu/cuda/check.
func TestNetsGiveTheSameOnADeviceAsOnAProcessor(t *testing.T) {
	device, folder := "cpu", os.Getenv("PENSTOCK_PTX")
	if folder != "" && cuda.Available() == nil {
		device = "cuda"
		if err := cuda.AddKernels(os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range model.Kinds() {
		t.Run(device+"/"+k.Name, func(t *testing.T) {
			n, err := model.New(k.Name, 2, size, device)
			if device == "cuda" && k.Name == "resnet-small" {
				if err == nil {
					t.Error("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close()
			x := images(2)
			for range 2 {
				if err := n.Infer(x); err != nil {
					t.Fatal(err)
				}
			}
			for i, want := range first[k.Name] {
				if d := n.Logits()[i] - want; !(max(d, -d) <= 1e-3*(1+max(want, -want))) {
					t.Errorf("logits %v, want %v", n.Logits()[:3], first[k.Name])
				}
			}
		})
	}
}
