package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

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

// send sends a request and waits for the response.
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
