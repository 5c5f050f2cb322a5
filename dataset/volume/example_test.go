package volume_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
	"github.com/penstock-go/penstock/loader"
)

// twoPatients have a scan of 2×4×4 voxels, 4×1×1 mm, and a tumour of one voxel.
func twoPatients() fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, patient := range []string{"anna", "bert"} {
		ct := &volume.Volume{Name: "ct", Dtype: dataset.Float32, Shape: dataset.Shape{2, 4, 4}, World: "LPS", Origin: []float64{0, 0, 0},
			Axes: []volume.Axis{{Spacing: 4, Direction: []float64{0, 0, 1}}, {Spacing: 1, Direction: []float64{0, 1, 0}}, {Spacing: 1, Direction: []float64{1, 0, 0}}}}
		values := make([]float32, 32)
		for i := range values {
			values[i] = float32(10 * i)
		}
		tumour := *ct
		tumour.Name, tumour.Dtype, tumour.Data = "tumour", dataset.Uint8, make([]byte, 32)
		tumour.Data[21] = 1
		ct.SetFloat32(values)
		for _, v := range []*volume.Volume{ct, &tumour} {
			var file bytes.Buffer
			if err := volume.WriteNRRD(&file, v, true); err != nil {
				log.Fatal(err)
			}
			fsys[patient+"/"+v.Name+".nrrd"] = &fstest.MapFile{Data: file.Bytes()}
		}
	}
	return fsys
}

// Patches for the training of a segmentation network: resampled and windowed
// once per patient, half of them on tumours, flipped at random.
func Example() {
	cohort, err := volume.Open(twoPatients(), // usually os.DirFS
		volume.Scan("ct", "{patient}/ct.nrrd"),
		volume.Mask("tumour", "{patient}/tumour.nrrd"),
		volume.Prepare(volume.Resample(2, 1, 1), volume.Window(160, 320), volume.PadOrCrop(4, 4, 6)))
	if err != nil {
		log.Fatal(err)
	}
	patches, err := cohort.Patches([]int{2, 2, 2}, volume.PerPatient(8), volume.Positives("tumour", 0.5))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := volume.Augment(patches, volume.RandomFlip(0.5), volume.RandomRotate90(0.5, 1, 2))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds)

	l, err := loader.New(ds, loader.BatchSize(4), loader.Shuffle(true))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Tensor("ct").Shape(), batch.Tensor("tumour").Shape())
	}
	fmt.Println(cohort.Stats().Misses, "patients decoded")
	// Output:
	// 2 patients
	//   read      ct from {patient}/ct.nrrd
	//   read      tumour from {patient}/tumour.nrrd
	//   prepare   Resample(2, 1, 1), Window(160, 320), PadOrCrop(4, 4, 6), once per patient
	//   cache     up to 2 GiB of 960 B
	//   cut       Patches(2, 2, 2), 8 per patient, 50 % on tumour: 16 samples
	//   store     ct float32 (1, 2, 2, 2), tumour uint8 (1, 2, 2, 2)
	//   augment   RandomFlip(0.5)
	//   augment   RandomRotate90(0.5, 1, 2)
	// (4, 1, 2, 2, 2) (4, 1, 2, 2, 2)
	// (4, 1, 2, 2, 2) (4, 1, 2, 2, 2)
	// (4, 1, 2, 2, 2) (4, 1, 2, 2, 2)
	// (4, 1, 2, 2, 2) (4, 1, 2, 2, 2)
	// 2 patients decoded
}

// A PET scan of 4×2×2 mm is put on the grid of a CT scan of 4×1×1 mm.
func ExampleResampleToMatch() {
	fsys := twoPatients()
	for _, patient := range []string{"anna", "bert"} {
		pet := &volume.Volume{Name: "pet", Shape: dataset.Shape{2, 2, 1}, World: "RAS", Origin: []float64{-0.5, -0.5, 0},
			Axes: []volume.Axis{{Spacing: 4, Direction: []float64{0, 0, 1}}, {Spacing: 2, Direction: []float64{0, -1, 0}}, {Spacing: 2, Direction: []float64{-1, 0, 0}}}}
		pet.SetFloat32([]float32{0, 4, 8, 8})
		var file bytes.Buffer
		if err := volume.WriteNRRD(&file, pet, false); err != nil {
			log.Fatal(err)
		}
		fsys[patient+"/pet.nrrd"] = &fstest.MapFile{Data: file.Bytes()}
	}
	cohort, err := volume.Open(fsys, volume.Scan("ct", "{patient}/ct.nrrd"), volume.Scan("pet", "{patient}/pet.nrrd", volume.Fill(-1)),
		volume.Mask("tumour", "{patient}/tumour.nrrd"), volume.Prepare(volume.ResampleToMatch("ct"), volume.Window(160, 320).Only("ct")))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := cohort.Slices(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	for y, values := 0, dataset.ValuesOf[float32](s["pet"]); y < 4; y++ {
		fmt.Println(values[4*y : 4*y+4])
	}
	// Output:
	// [0 0 -1 -1]
	// [1 1 -1 -1]
	// [3 3 -1 -1]
	// [4 4 -1 -1]
}

// row is a dataset of one volume with a single row of voxels, and its mask.
func row(values ...float32) dataset.Dataset {
	labels := make([]uint8, len(values))
	for i, v := range values {
		if v > 0 {
			labels[i] = 1
		}
	}
	n := len(values)
	ds, err := dataset.Tensors(
		dataset.Named("mr", dataset.TensorOf(values, 1, 1, 1, n)),
		dataset.Named("mask", dataset.TensorOf(labels, 1, 1, 1, n)))
	if err != nil {
		log.Fatal(err)
	}
	return ds
}

func show(steps ...volume.Step) {
	ds, err := volume.Augment(row(-100, 0, 100, 300), append(steps, volume.ScanFields("mr"), volume.MaskFields("mask"))...)
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s["mr"].Data(), s["mask"].Data())
}

// The fields of any dataset can be augmented if they have channels first.
func ExampleAugment() {
	show(volume.RandomFlip(1, -1))
	// Output: [300 100 0 -100] [1 1 0 0]
}

func ExampleWindow() {
	show(volume.Window(100, 200))
	show(volume.Window(100, 200).To(-1, 1))
	show(volume.Window(100, 200).Only("mr"))
	// Output:
	// [0 0 0.5 1] [0 0 1 1]
	// [-1 -1 0 1] [0 0 1 1]
	// [0 0 0.5 1] [0 0 1 1]
}

func ExampleZScore() {
	show(volume.ZScore().Nonzero())
	// Output: [-1.2247449 0 0 1.2247449] [0 0 1 1]
}

func ExampleMinMax() {
	show(volume.MinMax())
	// Output: [0 0.25 0.5 1] [0 0 1 1]
}

// halve halves the values of scans, which are float32 in this dataset.
func halve(volumes []*volume.Volume, _ *rand.Rand) error {
	for _, v := range volumes {
		if v.Mask {
			continue
		}
		values, err := v.Float32()
		if err != nil {
			return err
		}
		for i := range values {
			values[i] /= 2
		}
	}
	return nil
}

func ExampleApply() {
	show(volume.Apply("halve", halve))
	// Output: [-50 0 50 150] [0 0 1 1]
}

// For inference, one scan goes through the steps that were used in training.
func ExampleProcess() {
	ct, err := volume.Read(twoPatients(), "anna/ct.nrrd", 1<<30)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ct)
	if err := volume.Process(context.Background(), []*volume.Volume{ct}, volume.Resample(2, 1, 1), volume.Window(160, 320)); err != nil {
		log.Fatal(err)
	}
	values, err := ct.Float32()
	fmt.Println(ct, values[:4], err)
	// Output:
	// anna/ct.nrrd float32 (2, 4, 4), 4×1×1 mm, LPS
	// anna/ct.nrrd float32 (1, 4, 4, 4), 2×1×1 mm, LPS [0 0.03125 0.0625 0.09375] <nil>
}
