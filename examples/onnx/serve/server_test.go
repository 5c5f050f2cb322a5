//go:build cgo

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/examples/onnx/model"
	"github.com/penstock-go/penstock/transform"
)

const classes = 10

// newTestServer is a server with the model's steps and a given net.
func newTestServer(t *testing.T, queue int, run func(x, y []float32, n int) error) *server {
	t.Helper()
	steps, err := transform.Compile(model.Steps()...)
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields("zero one two three four five six seven eight nine")
	s := newServer(options{batch: 4, queue: queue, maxBytes: 1 << 20}, steps, names, 3*224*224, classes, run)
	t.Cleanup(s.close)
	return s
}

// brightness is a net that knows how bright an image's first pixel is: the class
// grows with it.
func brightness(x, y []float32, n int) error {
	for row := range n {
		v := (x[row*3*224*224] + 1) / 2
		for c := range classes {
			d := float32(c)/classes - v
			y[row*classes+c] = -100 * d * d
		}
	}
	return nil
}

func gray(t *testing.T, v uint8) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 40, 30))
	for i := range m.Pix {
		m.Pix[i] = v
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func post(h http.Handler, body io.Reader) (int, answer) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/classify", body))
	var a answer
	json.Unmarshal(w.Body.Bytes(), &a)
	return w.Code, a
}

func TestRequestsGetTheClassesOfTheirOwnImages(t *testing.T) {
	h := newTestServer(t, 64, brightness).handler()
	var group sync.WaitGroup
	for k := range 40 {
		group.Go(func() {
			want := k % classes
			status, a := post(h, bytes.NewReader(gray(t, uint8(26*want))))
			if status != http.StatusOK || len(a.Classes) != 5 || a.Classes[0].Index != want || a.Batch < 1 || a.Batch > 4 {
				t.Errorf("class %d: got %d, %+v", want, status, a)
			}
		})
	}
	group.Wait()
}

func TestWhatIsNoImageIsTheClientsErrorAndSaysWhy(t *testing.T) {
	h := newTestServer(t, 4, brightness).handler()
	photo := gray(t, 100)
	huge := bytes.Clone(photo)
	at := bytes.Index(huge, []byte{0xff, 0xc0}) // the frame's header: height and width
	copy(huge[at+5:], []byte{0xff, 0xff, 0xff, 0xff})
	for name, test := range map[string]struct {
		body   io.Reader
		status int
		says   string
	}{
		"empty":          {strings.NewReader(""), 422, "empty"},
		"text":           {strings.NewReader("hello, server"), 422, "not a JPEG"},
		"cut":            {bytes.NewReader(photo[:len(photo)/2]), 422, "unexpected EOF"},
		"claims 4 Gpx":   {bytes.NewReader(huge), 422, "pixels"},
		"too large":      {bytes.NewReader(make([]byte, 1<<20+1)), 413, "1048576 bytes"},
		"breaks":         {io.MultiReader(bytes.NewReader(photo[:100]), broken{}), 400, "connection lost"},
		"an image still": {bytes.NewReader(photo), 200, ""},
	} {
		status, a := post(h, test.body)
		if status != test.status || !strings.Contains(a.Error, test.says) || (a.Error == "") != (status == 200) {
			t.Errorf("%s: got %d, %+v, want %d and %q", name, status, a, test.status, test.says)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection lost") }

func TestOtherPathsAndMethodsAreRefused(t *testing.T) {
	h := newTestServer(t, 4, brightness).handler()
	for request, want := range map[string]int{"GET /classify": 405, "POST /": 404, "GET /healthz": 200} {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != want {
			t.Errorf("%s: got %d, want %d", request, w.Code, want)
		}
	}
}

func TestMoreRequestsThanTheQueueAreToldToComeBack(t *testing.T) {
	begun, free := make(chan bool, 16), make(chan bool)
	h := newTestServer(t, 1, func(x, y []float32, n int) error {
		begun <- true
		<-free
		return brightness(x, y, n)
	}).handler()
	photo := gray(t, 100)
	var group sync.WaitGroup
	group.Go(func() { post(h, bytes.NewReader(photo)) })
	<-begun
	status, a := post(h, bytes.NewReader(photo))
	if status != http.StatusServiceUnavailable || !strings.Contains(a.Error, "1 requests") {
		t.Errorf("got %d, %+v", status, a)
	}
	close(free)
	group.Wait()
	if status, a := post(h, bytes.NewReader(photo)); status != http.StatusOK {
		t.Errorf("after the others: %d, %+v", status, a)
	}
}

func TestAClientThatSendsSlowlyTakesNoPlace(t *testing.T) {
	s := newTestServer(t, 1, brightness)
	h := s.handler()
	photo := gray(t, 100)
	var group sync.WaitGroup
	var senders []*io.PipeWriter
	for range 8 {
		body, sender := io.Pipe() // a body that does not end
		group.Go(func() {
			if status, a := post(h, body); status != http.StatusBadRequest {
				t.Errorf("a body that breaks: got %d, %+v", status, a)
			}
		})
		sender.Write(photo[:100]) // it is being read
		senders = append(senders, sender)
	}
	if status, a := post(h, bytes.NewReader(photo)); status != http.StatusOK {
		t.Errorf("got %d, %+v", status, a)
	}
	for _, sender := range senders {
		sender.CloseWithError(errors.New("connection lost"))
	}
	group.Wait()
	if got := s.free.Load(); got != 1<<20 {
		t.Errorf("%d bytes are free, want %d", got, 1<<20)
	}
}

func TestImagesUnderWayTakeBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestServer(t, 2, brightness).handler() // two images of 1 MiB
		var group sync.WaitGroup
		var senders []*io.PipeWriter
		for range 2 {
			body, sender := io.Pipe()
			group.Go(func() { post(h, body) })
			sender.Write(make([]byte, 1<<20))
			senders = append(senders, sender)
		}
		synctest.Wait()
		photo := gray(t, 100)
		if status, a := post(h, bytes.NewReader(photo)); status != http.StatusServiceUnavailable || !strings.Contains(a.Error, "memory") {
			t.Errorf("got %d, %+v", status, a)
		}
		for _, sender := range senders {
			sender.Close()
		}
		group.Wait()
		if status, a := post(h, bytes.NewReader(photo)); status != http.StatusOK {
			t.Errorf("after the others: %d, %+v", status, a)
		}
	})
}

func TestRequestsThatArriveWhileTheNetIsBusyShareItsNextRun(t *testing.T) {
	photo := gray(t, 100)
	synctest.Test(t, func(t *testing.T) {
		var runs []int
		s := newTestServer(t, 64, func(x, y []float32, n int) error {
			runs = append(runs, n)
			time.Sleep(time.Second) // of the bubble's clock
			return brightness(x, y, n)
		})
		var group sync.WaitGroup
		for range 7 {
			group.Go(func() {
				if status, a := s.classify(t.Context(), bytes.NewReader(photo)); status != http.StatusOK {
					t.Errorf("got %d, %+v", status, a)
				}
			})
			synctest.Wait()
		}
		group.Wait()
		if want := []int{1, 4, 2}; !slices.Equal(runs, want) {
			t.Errorf("runs of %v rows, want %v", runs, want)
		}
	})
}

func TestARequestThatIsCancelledLeaves(t *testing.T) {
	photo := gray(t, 100)
	synctest.Test(t, func(t *testing.T) {
		s := newTestServer(t, 64, func(x, y []float32, n int) error {
			time.Sleep(time.Hour)
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		var group sync.WaitGroup
		for range 3 { // one is in the net, two wait for it
			group.Go(func() {
				if status, a := s.classify(ctx, bytes.NewReader(photo)); status != http.StatusInternalServerError || time.Since(begun) != time.Minute {
					t.Errorf("after %v: got %d, %+v", time.Since(begun), status, a)
				}
			})
		}
		group.Wait()
	})
}

func TestAResultThatIsNotANumberIsAnError(t *testing.T) {
	for _, wrong := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		h := newTestServer(t, 1, func(x, y []float32, n int) error {
			err := brightness(x, y, n)
			y[3] = float32(wrong)
			return err
		}).handler()
		status, a := post(h, bytes.NewReader(gray(t, 100)))
		if status != http.StatusInternalServerError || !strings.Contains(a.Error, "not a number") {
			t.Errorf("%v: got %d, %+v", wrong, status, a)
		}
	}
}

func TestAnInterruptedServerAnswersWhatIsUnderWay(t *testing.T) {
	begun, free := make(chan bool, 1), make(chan bool)
	s := newTestServer(t, 4, func(x, y []float32, n int) error {
		begun <- true
		<-free
		return brightness(x, y, n)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	addr, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- listen(ctx, "127.0.0.1:0", s, func(a net.Addr) { addr <- a })
	}()
	url := "http://" + (<-addr).String() + "/classify"
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	answered := make(chan int, 1)
	go func() {
		response, err := client.Post(url, "image/jpeg", bytes.NewReader(gray(t, 100)))
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		response.Body.Close()
		answered <- response.StatusCode
	}()
	<-begun
	cancel()
	select {
	case err := <-ended:
		t.Fatalf("it ended with a request under way: %v", err)
	default:
	}
	close(free)
	if status := <-answered; status != http.StatusOK {
		t.Errorf("got %d", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := client.Get(url); err == nil {
		t.Error("it still listens")
	}
}
