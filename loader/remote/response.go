package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/penstock-go/penstock/internal/pace"
	"github.com/penstock-go/penstock/internal/wire"
)

// A response is the body of status 200. Reads end if it is silent for too long.
type response struct {
	from    *replica
	length  int64 // of the body, or -1
	body    io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	silence time.Duration
	after   func() // if not nil, close calls it
}

func (r *response) Read(p []byte) (int, error) {
	r.timer.Reset(r.silence)
	return r.body.Read(p)
}

// close ends the response. The connection can be used again if the body was read to its
// end.
func (r *response) close() {
	if r.body != nil {
		r.body.Close() // what was needed has been read
	}
	r.timer.Stop()
	r.cancel(nil)
	if r.after != nil {
		r.after()
	}
}

// cause is err, or why the response was ended.
func (r *response) cause(err error) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// begin sends a request and waits for the response. If that takes long, it sends a second
// one to another replica, and returns the response that comes first.
func (c *client) begin(ctx context.Context, one, two *replica, path string) (*response, error) {
	first := func(ctx context.Context) (*response, error) { return c.open(ctx, one, path) }
	second := func(ctx context.Context) (*response, error) { return c.open(ctx, two, path) }
	r, end, err := pace.Race(ctx, &c.pace, first, second, (*response).close)
	if err != nil {
		return nil, err
	}
	r.after = end
	return r, nil
}

// open sends a request and waits for the response.
func (c *client) open(ctx context.Context, from *replica, path string) (*response, error) {
	r := &response{from: from, silence: c.cfg.silence}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.timer = time.AfterFunc(r.silence, func() { r.cancel(fmt.Errorf("no byte for %v", r.silence)) })
	err := c.send(r, path)
	if err == nil {
		return r, nil
	}
	err = r.cause(err)
	c.blame(ctx, from, err)
	r.close()
	return nil, err
}

// blame notes that a replica has failed, unless the request was cancelled or every replica
// would fail in this way.
func (c *client) blame(ctx context.Context, from *replica, err error) {
	if _, ok := errors.AsType[final](err); !ok && ctx.Err() == nil {
		c.route.failed(from, time.Now())
	}
}

func (c *client) send(r *response, path string) error {
	req, err := http.NewRequestWithContext(r.ctx, http.MethodGet, r.from.url+path, nil)
	if err != nil {
		return err
	}
	if c.cfg.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	r.body, r.length = resp.Body, resp.ContentLength
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return refusal(resp, c.plan.Plan)
}

// refusal is the error of another status than 200, if plan was wanted.
func refusal(resp *http.Response, plan string) error {
	const most = 64 << 10
	var text wire.Error
	err := fmt.Errorf("status %s", resp.Status)
	if json.NewDecoder(io.LimitReader(resp.Body, most)).Decode(&text) == nil && text.Error != "" {
		err = fmt.Errorf("status %s: %s", resp.Status, text.Error)
	}
	switch resp.StatusCode {
	case http.StatusConflict:
		return otherPlan(text.Plan, plan)
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusInternalServerError:
		return final{err}
	}
	return err
}
