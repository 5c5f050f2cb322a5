package azure

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/internal/response"
)

// refused is what an error of the library means. The library's text is not shown, because
// it has the URL.
func (c *remote) refused(err error) error {
	if e, ok := errors.AsType[*credentialsError](err); ok {
		return e.error
	}
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	if ok && answer.RawResponse != nil {
		says := ""
		if body, err := runtime.Payload(answer.RawResponse); err == nil {
			says = string(body)
		}
		if !c.expires.IsZero() && time.Now().After(c.expires) {
			says = "expired"
		}
		return response.Refused(answer.StatusCode, answer.RawResponse.Header, answer.ErrorCode, says)
	}
	if _, hopeless := errors.AsType[interface {
		error
		NonRetriable()
	}](err); hopeless {
		return objects.Permanent(response.Public(err))
	}
	return response.Public(err)
}

// status is the status of the response that the library calls an error, or 0.
func status(err error) int {
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return answer.StatusCode
	}
	return 0
}

// A credentialsError passes through the library as it is.
type credentialsError struct{ error }

func (e *credentialsError) Unwrap() error { return e.error }
func (e *credentialsError) NonRetriable() {} // by the library

var (
	advice = regexp.MustCompile(`To troubleshoot, visit \S+`)
	origin = regexp.MustCompile(`(?m)^\s*(\w+Credential)\b`) // the last one that was asked has failed
	reason = regexp.MustCompile(`AADSTS\d+`)                 // the number that Microsoft Entra gives a cause
)

// noToken is the error if no credential gives a token. It does not show the response.
func noToken(err error) error {
	e, ok := errors.AsType[*azidentity.AuthenticationFailedError](err)
	if !ok || e.RawResponse == nil {
		text := advice.ReplaceAllString(response.Public(err).Error(), "")
		text = strings.Join(strings.Fields(text), " ")
		return &credentialsError{objects.Permanent(errors.New("no credentials: " + text))}
	}
	code, text := e.RawResponse.StatusCode, e.Error()
	says := fmt.Sprintf("the service that gives tokens answers HTTP %d", code)
	if asked := origin.FindAllStringSubmatch(text, -1); len(asked) > 0 {
		says = asked[len(asked)-1][1] + ": " + says
	}
	if number := reason.FindString(text); number != "" {
		says += " " + number
	}
	err = errors.New("no credentials: " + says)
	if code < http.StatusInternalServerError && code != http.StatusTooManyRequests {
		err = objects.Permanent(err)
	}
	return &credentialsError{err}
}
