// Package wire is the format in which package serve sends batches and package remote
// reads them. The documentation of package serve describes it.
package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/budget"
)

// Version is the version of the format. It also changes if the loader's order of samples
// or their random numbers change.
const Version = 1

// Names of tensors that are no fields, and the end of those of a ragged field's offsets.
const (
	Indices  = "indices"
	Offsets  = ".offsets"
	metadata = "__metadata__"
)

// A Plan describes what a service serves.
type Plan struct {
	Plan     string `json:"plan"` // the hash, in hexadecimal digits
	Version  int    `json:"version"`
	Samples  int    `json:"samples"`
	Rows     int    `json:"rows"` // samples in the largest batch
	Seed     uint64 `json:"seed"`
	Order    string `json:"order"`
	Schedule string `json:"schedule"`
	Dataset  string `json:"dataset"`
	Identity string `json:"identity,omitempty"`
	Names    string `json:"names,omitempty"` // a hash
	First    string `json:"first"`           // a hash of the first batch of rank 0 of 1
	Mode     string `json:"mode"`
	Fields   fields `json:"fields"`
}

// fields are those of a plan, which take no more memory than its size allows.
type fields []Field

// decoded is the memory that a field or a tensor takes while it is decoded.
const decoded = 512

func (f *fields) UnmarshalJSON(text []byte) error {
	b := budget.For(int64(len(text)))
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("the fields are not a JSON array")
	}
	if *f != nil {
		return errors.New("the plan has fields twice")
	}
	*f = fields{}
	for d.More() {
		var one Field
		if err := d.Decode(&one); err != nil {
			return err
		}
		if err := b.Memory(decoded + int64(len(one.Name)+len(one.Dtype)+len(one.Of)+8*len(one.Shape))); err != nil {
			return fmt.Errorf("fields: %w", err)
		}
		*f = append(*f, one)
	}
	return nil
}

// A Field is a [dataset.Field].
type Field struct {
	Name   string       `json:"name"`
	Dtype  string       `json:"dtype"`
	Shape  []int        `json:"shape"`
	Ragged bool         `json:"ragged,omitempty"`
	Kind   dataset.Kind `json:"kind,omitzero"`
	Of     string       `json:"of,omitempty"`
}

// Hash is the hash of everything else in the plan.
func (p Plan) Hash() string {
	p.Plan = ""
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // there is nothing in it that JSON does not have
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// A Rest is what remains of an epoch: loader.Rest with the place where it begins.
type Rest struct {
	Epoch   int `json:"epoch"`
	Draw    int `json:"draw"`
	Batches int `json:"batches"`
	Step    int `json:"step"`
	End     int `json:"end"`
}

// An Error is the body of a response that is not a batch.
type Error struct {
	Error string `json:"error"`
	Name  string `json:"name,omitempty"`  // of the sample that failed
	Index *int   `json:"index,omitempty"` // of the sample that failed
	Plan  string `json:"plan,omitempty"`  // that the service serves, if the path has another
}

// Fields are the fields of a spec.
func Fields(spec dataset.Spec) ([]Field, error) {
	fields := make([]Field, len(spec))
	names := map[string]bool{Indices: true, metadata: true}
	for i, f := range spec {
		if _, err := SafetensorsDtype(f.Dtype); err != nil {
			return nil, fmt.Errorf("field %v: %w", f, err)
		}
		for _, name := range tensors(f) {
			if names[name] {
				return nil, fmt.Errorf("field %v: a tensor of the service has the name %q too", f, name)
			}
			names[name] = true
		}
		fields[i] = Field{f.Name, f.Dtype.String(), append([]int{}, f.Shape...), f.Ragged, f.Kind, f.Of}
	}
	return fields, nil
}

func tensors(f dataset.Field) []string {
	if f.Ragged {
		return []string{f.Name, f.Name + Offsets}
	}
	return []string{f.Name}
}

// Spec is the spec that fields describe. It is an error if a batch cannot have such fields.
func Spec(fields []Field) (dataset.Spec, error) {
	spec := make(dataset.Spec, len(fields))
	for i, f := range fields {
		dt, err := dataset.ParseDtype(f.Dtype)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		spec[i] = dataset.Field{Name: f.Name, Dtype: dt, Shape: f.Shape, Ragged: f.Ragged, Kind: f.Kind, Of: f.Of}
	}
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	_, err := Fields(spec)
	return spec, err
}

var dtypes = []struct {
	dt   dataset.Dtype
	name string // in safetensors
}{
	{dataset.Bool, "BOOL"}, {dataset.Uint8, "U8"}, {dataset.Int8, "I8"},
	{dataset.Uint16, "U16"}, {dataset.Int16, "I16"}, {dataset.Float16, "F16"}, {dataset.BFloat16, "BF16"},
	{dataset.Uint32, "U32"}, {dataset.Int32, "I32"}, {dataset.Float32, "F32"},
	{dataset.Uint64, "U64"}, {dataset.Int64, "I64"}, {dataset.Float64, "F64"},
	{dataset.Int, "I" + strconv.Itoa(strconv.IntSize)}, {dataset.Uint, "U" + strconv.Itoa(strconv.IntSize)},
}

// SafetensorsDtype is the name of a dtype in safetensors.
func SafetensorsDtype(dt dataset.Dtype) (string, error) {
	for _, d := range dtypes {
		if d.dt == dt {
			return d.name, nil
		}
	}
	return "", fmt.Errorf("safetensors has no dtype %v", dt)
}
