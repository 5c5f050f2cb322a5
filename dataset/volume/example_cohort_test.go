package volume_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume"
)

// clinic is a folder of two patients with a scan of 2×2×3 voxels each; the second has
// a tumour drawn in.
func clinic() fstest.MapFS {
	fsys := fstest.MapFS{}
	for p, name := range []string{"anna", "bert"} {
		ct := &volume.Volume{Name: "ct", Shape: dataset.Shape{2, 2, 3}, World: "LPS", Origin: []float64{0, 0, 0}, Axes: []volume.Axis{
			{Spacing: 5, Direction: []float64{0, 0, 1}}, {Spacing: 1, Direction: []float64{0, 1, 0}}, {Spacing: 1, Direction: []float64{1, 0, 0}}}}
		tumour := *ct
		ct.SetFloat32([]float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, float32(11 + p)})
		tumour.Name, tumour.Dtype, tumour.Data = "tumour", dataset.Uint8, make([]byte, 12)
		tumour.Data[7] = uint8(p)
		for _, v := range []*volume.Volume{ct, &tumour} {
			var file bytes.Buffer
			if err := volume.WriteNRRD(&file, v, true); err != nil {
				log.Fatal(err)
			}
			fsys[name+"/"+v.Name+".nrrd"] = &fstest.MapFile{Data: file.Bytes()}
		}
	}
	return fsys
}

func clinicCohort() *volume.Cohort {
	cohort, err := volume.Open(clinic(), // usually os.DirFS
		volume.Scan("ct", "{patient}/ct.nrrd", volume.Fill(-1)),
		volume.Mask("tumour", "{patient}/tumour.nrrd"),
		volume.CacheSize(1<<30), volume.MaxBytes(1<<30), volume.Tolerance(0.01))
	if err != nil {
		log.Fatal(err)
	}
	return cohort
}

func printAll(ds dataset.Dataset, err error) {
	if err != nil {
		log.Fatal(err)
	}
	for i := range ds.Len() {
		s, err := dataset.At(context.Background(), ds, i)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s["patient"].Data(), s["ct"].Shape(), s["ct"].Data(), s["tumour"].Data())
	}
}

func ExampleOpen() {
	cohort := clinicCohort()
	fmt.Println(cohort.Names())
	printAll(cohort.Whole())
	fmt.Println(cohort.Stats())
	// Output:
	// [anna bert]
	// 0 (1, 2, 2, 3) [0 1 2 3 4 5 6 7 8 9 10 11] [0 0 0 0 0 0 0 0 0 0 0 0]
	// 1 (1, 2, 2, 3) [0 1 2 3 4 5 6 7 8 9 10 12] [0 0 0 0 0 0 0 1 0 0 0 0]
	// 2 samples in 120 B, limit 1 GiB, 0 hits, 2 misses
}

// Patients can be listed in the program, with files of any name.
func ExamplePatients() {
	cohort, err := volume.Open(clinic(),
		volume.Scan("ct", "{patient}/ct.nrrd", volume.As(dataset.Float64)),
		volume.Mask("tumour", "{patient}/tumour.nrrd"),
		volume.Scan("pet", "{patient}/pet.nrrd", volume.Optional()),
		volume.Patients(
			volume.Patient{Name: "bert"},
			volume.Patient{Name: "clara", Files: map[string]string{"ct": "anna/ct.nrrd", "tumour": "anna/tumour.nrrd", "pet": "anna/ct.nrrd"}}))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := cohort.Whole()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cohort.Names(), ds.Spec())
	// Output:
	// [bert clara] ct float64 (1, 2, 2, 3), tumour uint8 (1, 2, 2, 3), pet float32 (1, 2, 2, 3), pet_present bool (), patient int64 ()
}

func ExampleCohort_Slices() {
	cohort, ctx := clinicCohort(), context.Background()
	printAll(cohort.Slices(ctx, volume.Views("axial"), volume.NonEmpty("tumour")))
	printAll(cohort.Slices(ctx, volume.Views("coronal", "sagittal"), volume.SliceShape(2, 3), volume.NonEmpty("tumour")))
	// Output:
	// 1 (1, 2, 3) [6 7 8 9 10 12] [0 1 0 0 0 0]
	// 1 (1, 2, 3) [0 1 2 6 7 8] [0 0 0 0 1 0]
	// 1 (1, 2, 3) [1 4 -1 7 10 -1] [0 0 0 1 0 0]
}

// Validation sees other patients than training does, not other slices.
func ExampleCohort_Subset() {
	cohort := clinicCohort()
	training, err := cohort.Subset([]int{1})
	if err != nil {
		log.Fatal(err)
	}
	printAll(training.Patches([]int{1, 1, 2}, volume.PerPatient(2), volume.Positives("tumour", 1)))
	// Output:
	// 0 (1, 1, 1, 2) [6 7] [0 1]
	// 0 (1, 1, 1, 2) [6 7] [0 1]
}

func ExampleCohort_Ragged() {
	ds, err := clinicCohort().Ragged()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Spec())
	fmt.Println("patients end with samples", volume.Ends(ds))
	// Output:
	// ct float32 (n), tumour uint8 (n), patient int64 (), shape int64 (3)
	// patients end with samples [1 2]
}

func ExampleCohort_Load() {
	volumes, err := clinicCohort().Load(context.Background(), 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range volumes {
		fmt.Println(v, dataset.NewTensor(v.Dtype, v.Shape, v.Data).Shape())
	}
	// Output:
	// ct float32 (1, 2, 2, 3), 5×1×1 mm, LPS (1, 2, 2, 3)
	// tumour uint8 (1, 2, 2, 3), 5×1×1 mm, LPS (1, 2, 2, 3)
}

func ExampleRead() {
	v, err := volume.Read(clinic(), "bert/ct.nrrd", 1<<30)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v, len(v.Data))
	fmt.Println(v.Position(1, 1, 2))
	values, err := v.Float32()
	fmt.Println(values[11], err)
	h, err := volume.ReadHeader(clinic(), "bert/ct.nrrd")
	fmt.Println(h, err)
	// Output:
	// bert/ct.nrrd float32 (2, 2, 3), 5×1×1 mm, LPS 48
	// [2 1 5] true
	// 12 <nil>
	// bert/ct.nrrd float32 (2, 2, 3), 5×1×1 mm, LPS <nil>
}

func ExampleWriteNRRD() {
	v := &volume.Volume{Name: "noise", Dtype: dataset.Uint8, Shape: dataset.Shape{1, 4}, Data: []byte("abcd"),
		Axes:       []volume.Axis{{Kind: "domain", Spacing: 2}, {Kind: "domain", Spacing: 0.5}},
		Attributes: map[string]string{"modality": "MR"}}
	if err := volume.WriteNRRD(os.Stdout, v, false); err != nil {
		log.Fatal(err)
	}
	// Output:
	// NRRD0004
	// type: uint8
	// dimension: 2
	// sizes: 4 1
	// spacings: 0.5 2
	// kinds: domain domain
	// endian: little
	// encoding: raw
	// modality:=MR
	//
	// abcd
}

// A spatial volume is read back with its position. Its voxels of 5×1×1 mm lie on planes
// that are tilted about the patient's left-right axis. A direction without a spacing is
// an error.
func ExampleWriteNRRD_place() {
	v := &volume.Volume{Name: "ct", Dtype: dataset.Uint8, Shape: dataset.Shape{2, 2, 2}, Data: []byte("abcdefgh"),
		World: "LPS", Origin: []float64{-100, -80, 30},
		Axes: []volume.Axis{
			{Kind: "space", Spacing: 5, Direction: []float64{0, -0.6, 0.8}},
			{Kind: "space", Spacing: 1, Direction: []float64{0, 0.8, 0.6}},
			{Kind: "space", Spacing: 1, Direction: []float64{1, 0, 0}}}}
	var file bytes.Buffer
	if err := volume.WriteNRRD(&file, v, true); err != nil {
		log.Fatal(err)
	}
	fsys := fstest.MapFS{"ct.nrrd": {Data: file.Bytes()}} // usually os.DirFS
	back, err := volume.Read(fsys, "ct.nrrd", 1<<30)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(back, back.Axes[0].Kind, string(back.Data))
	fmt.Println(back.Position(1, 0, 0))
	v.Axes[0].Spacing = 0
	fmt.Println(volume.WriteNRRD(&file, v, false))
	// Output:
	// ct.nrrd uint8 (2, 2, 2), 5×1×1 mm, LPS space abcdefgh
	// [-100 -83 34] true
	// volume: write ct: axis -3: no such direction in NRRD: kind "space", spacing 0, direction [0 -0.6 0.8]
}
