package csv_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/csv"
)

// Features and a label come from named columns. A row with a missing value is
// dropped.
func ExampleOpen() {
	const iris = `sepal length,sepal width,petal length,species
5.1,3.5,1.4,setosa
7.0,3.2,4.7,versicolor
6.3,,6.0,virginica
4.9,3.0,1.4,setosa
`
	fsys := fstest.MapFS{"iris.csv": {Data: []byte(iris)}} // usually an os.DirFS
	table, err := csv.Open(fsys, "iris.csv", []csv.Column{
		csv.Vector[float32]("features", "sepal length", "sepal width"),
		csv.Category("label", "species"),
	}, csv.DropMissing())
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), table, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Len(), table.Spec())
	fmt.Println(s["features"].Data(), s["label"].Data(), table.Classes("label"))
	fmt.Println(table.Name(2))
	// Output:
	// 3 features float32 (2), label int64 ()
	// [7 3.2] 1 [setosa versicolor]
	// iris.csv, line 5
}

// Without a header, the columns are named by their indices. A missing number
// becomes NaN.
func ExampleNoHeader() {
	const people = "# age;smokes;note\n31;true;\"a; b\"\n?;false;c\n"
	table, err := csv.Open(fstest.MapFS{"people.csv": {Data: []byte(people)}}, "people.csv", []csv.Column{
		csv.Scalar[float64]("age", "0"),
		csv.Scalar[bool]("smokes", "1"),
		csv.Text("note", "2"),
	}, csv.NoHeader(), csv.Delimiter(';'), csv.Comment('#'), csv.Missing("?"), csv.FillMissing(math.NaN()))
	if err != nil {
		log.Fatal(err)
	}
	for i := range table.Len() {
		s, err := dataset.At(context.Background(), table, i)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v %v %s\n", s["age"].Data(), s["smokes"].Data(), s["note"].Data())
	}
	// Output:
	// 31 true a; b
	// NaN false c
}
