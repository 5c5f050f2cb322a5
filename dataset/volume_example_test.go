package dataset_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"testing/fstest"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
)

// clinic is a folder of two patients with a scan of 2×2×3 voxels each; the second has
// a tumour drawn in.
func clinic() fstest.MapFS {
	fsys := fstest.MapFS{}
	for p, name := range []string{"anna", "bert"} {
		ct := &dataset.Volume{Name: "ct", Shape: tensor.Shape{2, 2, 3}, World: "LPS", Origin: []float64{0, 0, 0}, Axes: []dataset.Axis{
			{Spacing: 5, Direction: []float64{0, 0, 1}}, {Spacing: 1, Direction: []float64{0, 1, 0}}, {Spacing: 1, Direction: []float64{1, 0, 0}}}}
		tumour := ct.Header()
		ct.SetFloat32([]float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, float32(11 + p)})
		tumour.Name, tumour.Dtype, tumour.Data = "tumour", tensor.Uint8, make([]byte, 12)
		tumour.Data[7] = uint8(p)
		for _, v := range []*dataset.Volume{ct, tumour} {
			var file bytes.Buffer
			if err := dataset.WriteNRRD(&file, v, dataset.Gzipped()); err != nil {
				log.Fatal(err)
			}
			fsys[name+"/"+v.Name+".nrrd"] = &fstest.MapFile{Data: file.Bytes()}
		}
	}
	return fsys
}

func clinicStudy() *dataset.Study {
	study, err := dataset.Volumes(clinic(), // usually os.DirFS
		dataset.Scan("ct", "{patient}/ct.nrrd").Fill(-1),
		dataset.Mask("tumour", "{patient}/tumour.nrrd"),
		dataset.VolumeCache(1<<30), dataset.MaxVolumeSize(1<<30), dataset.Tolerance(0.01))
	if err != nil {
		log.Fatal(err)
	}
	return study
}

func printAll(ds *dataset.Cut, err error) {
	if err != nil {
		log.Fatal(err)
	}
	for i := range ds.Len() {
		s, err := dataset.At(context.Background(), ds, i)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ds.Name(i), s["ct"].Shape(), s["ct"].Data(), s["tumour"].Data())
	}
}

func ExampleVolumes() {
	study := clinicStudy()
	fmt.Println(study.Names(), study.Bytes(), "bytes")
	fmt.Println(study.Headers(0)[0])
	printAll(study.Whole())
	fmt.Println(study.Stats())
	// Output:
	// [anna bert] 120 bytes
	// ct float32 (1, 2, 2, 3), 5×1×1 mm, LPS
	// anna (1, 2, 2, 3) [0 1 2 3 4 5 6 7 8 9 10 11] [0 0 0 0 0 0 0 0 0 0 0 0]
	// bert (1, 2, 2, 3) [0 1 2 3 4 5 6 7 8 9 10 12] [0 0 0 0 0 0 0 1 0 0 0 0]
	// 2 patients in 120 B, limit 1 GiB, 0 hits, 2 misses, 0 evictions
}

// Patients can be written down, with files of any name.
func ExamplePatients() {
	study, err := dataset.Volumes(clinic(),
		dataset.Scan("ct", "{patient}/ct.nrrd").As(tensor.Float64),
		dataset.Mask("tumour", "{patient}/tumour.nrrd"),
		dataset.Scan("pet", "{patient}/pet.nrrd").Optional(),
		dataset.Patients(
			dataset.Patient{Name: "bert"},
			dataset.Patient{Name: "clara", Files: map[string]string{"ct": "anna/ct.nrrd", "tumour": "anna/tumour.nrrd", "pet": "anna/ct.nrrd"}}))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := study.Whole()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(study.Names(), ds.Spec())
	// Output:
	// [bert clara] ct float64 (1, 2, 2, 3), tumour uint8 (1, 2, 2, 3), pet float32 (1, 2, 2, 3), pet_present bool (), patient int64 ()
}

func ExampleStudy_Slices() {
	study, ctx := clinicStudy(), context.Background()
	printAll(study.Slices(ctx, dataset.Axial, dataset.NonEmpty("tumour")))
	printAll(study.Slices(ctx, dataset.Coronal, dataset.Sagittal, dataset.SliceShape(2, 3), dataset.NonEmpty("tumour")))
	// Output:
	// bert, axial slice 1 (1, 2, 3) [6 7 8 9 10 12] [0 1 0 0 0 0]
	// bert, coronal slice 0 (1, 2, 3) [0 1 2 6 7 8] [0 0 0 0 1 0]
	// bert, sagittal slice 1 (1, 2, 3) [1 4 -1 7 10 -1] [0 0 0 1 0 0]
}

// Validation sees other patients than training does, not other slices.
func ExampleStudy_Subset() {
	study := clinicStudy()
	training, err := study.Subset([]int{1})
	if err != nil {
		log.Fatal(err)
	}
	printAll(training.Patches([]int{1, 1, 2}, dataset.PerPatient(2), dataset.Positives("tumour", 1)))
	// Output:
	// bert, patch 0 (1, 1, 1, 2) [6 7] [0 1]
	// bert, patch 1 (1, 1, 1, 2) [6 7] [0 1]
}

func ExampleStudy_Ragged() {
	ds, err := clinicStudy().Ragged()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Spec())
	fmt.Println(ds.Study().Names(), "end with samples", ds.Ends())
	// Output:
	// ct float32 (n, 2, 3), tumour uint8 (n, 2, 3), patient int64 (), shape int64 (3)
	// [anna bert] end with samples [1 2]
}

func ExampleStudy_Load() {
	volumes, release, err := clinicStudy().Load(context.Background(), 1)
	if err != nil {
		log.Fatal(err)
	}
	defer release()
	for _, v := range volumes {
		fmt.Println(v, v.Tensor().Shape())
	}
	// Output:
	// ct float32 (1, 2, 2, 3), 5×1×1 mm, LPS (1, 2, 2, 3)
	// tumour uint8 (1, 2, 2, 3), 5×1×1 mm, LPS (1, 2, 2, 3)
}

func ExampleReadVolume() {
	v, err := dataset.ReadVolume(clinic(), "bert/ct.nrrd", 1<<30)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v, v.Elements(), v.Bytes())
	fmt.Println(v.Position(1, 1, 2))
	values, err := v.Float32()
	fmt.Println(values[11], err)
	h, err := dataset.ReadVolumeHeader(clinic(), "bert/ct.nrrd")
	fmt.Println(h, err)
	// Output:
	// bert/ct.nrrd float32 (2, 2, 3), 5×1×1 mm, LPS 12 48
	// [2 1 5] true
	// 12 <nil>
	// bert/ct.nrrd float32 (2, 2, 3), 5×1×1 mm, LPS <nil>
}

func ExampleWriteNRRD() {
	v := &dataset.Volume{Name: "noise", Dtype: tensor.Uint8, Shape: tensor.Shape{1, 4}, Data: []byte("abcd"),
		Axes:       []dataset.Axis{{Kind: "domain", Spacing: 2}, {Kind: "domain", Spacing: 0.5}},
		Attributes: []dataset.Attribute{{Key: "modality", Value: "MR"}}}
	if err := dataset.WriteNRRD(os.Stdout, v); err != nil {
		log.Fatal(err)
	}
	// Output:
	// NRRD0003
	// type: uint8
	// dimension: 2
	// sizes: 4 1
	// spacings: 0.5 2
	// kinds: domain domain
	// encoding: raw
	// modality:=MR
	//
	// abcd
}

// A spatial volume comes back with its place: what is written here are voxels of
// 5×1×1 mm on planes that are tilted about the patient's left-right axis.
func ExampleWriteNRRD_place() {
	v := &dataset.Volume{Name: "ct", Dtype: tensor.Uint8, Shape: tensor.Shape{2, 2, 2}, Data: []byte("abcdefgh"),
		World: "LPS", Origin: []float64{-100, -80, 30},
		Axes: []dataset.Axis{
			{Kind: "space", Spacing: 5, Direction: []float64{0, -0.6, 0.8}},
			{Kind: "space", Spacing: 1, Direction: []float64{0, 0.8, 0.6}},
			{Kind: "space", Spacing: 1, Direction: []float64{1, 0, 0}}}}
	var file bytes.Buffer
	if err := dataset.WriteNRRD(&file, v, dataset.Gzipped()); err != nil {
		log.Fatal(err)
	}
	fsys := fstest.MapFS{"ct.nrrd": {Data: file.Bytes()}} // usually os.DirFS
	back, err := dataset.ReadVolume(fsys, "ct.nrrd", 1<<30)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(back, back.Axes[0].Kind, string(back.Data))
	fmt.Println(back.Position(1, 0, 0))
	v.Axes[0].Spacing = 0
	fmt.Println(dataset.WriteNRRD(&file, v))
	// Output:
	// ct.nrrd uint8 (2, 2, 2), 5×1×1 mm, LPS space abcdefgh
	// [-100 -83 34] true
	// dataset: write ct: axis 0: a direction without a spacing
}
