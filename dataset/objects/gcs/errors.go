package gcs

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/internal/response"
)

// refused is what an error of the library means. Its text is not shown, because it may
// have the URL.
func refused(err error) error {
	if e, ok := errors.AsType[*auth.Error](err); ok {
		return noToken(e)
	}
	if errors.Is(err, storage.ErrBucketNotExist) {
		return response.Refused(http.StatusNotFound, nil, response.NoBucket, "")
	}
	if errors.Is(err, storage.ErrObjectNotExist) {
		return response.Refused(http.StatusNotFound, nil, "", "")
	}
	if e, ok := errors.AsType[*googleapi.Error](err); ok && e.Code >= http.StatusMultipleChoices {
		return response.Refused(e.Code, e.Header, name(e), e.Message+e.Body)
	}
	return response.Public(err)
}

// name is what the service calls an error: conditionNotMet in JSON, where it lists
// objects, and <Code>PreconditionFailed</Code> in XML, where it reads them.
func name(e *googleapi.Error) string {
	if len(e.Errors) > 0 {
		return e.Errors[0].Reason
	}
	_, name, _ := strings.Cut(e.Body, "<Code>")
	name, _, _ = strings.Cut(name, "</Code>")
	return name
}

// noToken is the error if the service that gives tokens gives none.
func noToken(e *auth.Error) error {
	if e.Response == nil {
		return response.Public(e)
	}
	err := fmt.Errorf("no credentials: the service that gives tokens answers HTTP %d", e.Response.StatusCode)
	if e.Temporary() {
		return err
	}
	return objects.Permanent(err)
}

// status is the status of the response that the library calls an error, or 0.
func status(err error) int {
	if e, ok := errors.AsType[*googleapi.Error](err); ok {
		return e.Code
	}
	return 0
}
