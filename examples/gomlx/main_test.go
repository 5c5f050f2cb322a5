package main

import "testing"

// Chance is 1/7. All 16 epochs of the program reach 0.89.
func TestTheNetLearnsShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for a quarter of a minute")
	}
	backend, err := newBackend()
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	accuracy, err := run(t.Context(), backend, options{images: 2100, epochs: 6, batch: 32})
	if err != nil {
		t.Fatal(err)
	}
	if accuracy < 0.5 {
		t.Errorf("accuracy %.3f on seven classes, want 0.5", accuracy)
	}
}
