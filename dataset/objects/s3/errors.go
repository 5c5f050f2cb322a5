package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/internal/response"
)

// refused is what an error of the SDK means. The SDK's text is not shown, because it
// has the URL.
func refused(err error) error {
	if e, ok := errors.AsType[*credentialsError](err); ok {
		return objects.Permanent(e)
	}
	answer, ok := errors.AsType[*awshttp.ResponseError](err)
	if !ok || answer.Response == nil || answer.HTTPStatusCode() < http.StatusMultipleChoices {
		return response.Public(err)
	}
	name, says := "", ""
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		name, says = e.ErrorCode(), e.ErrorMessage()
	}
	code, header := answer.HTTPStatusCode(), answer.Response.Header
	err = response.Refused(code, header, name, says)
	if region := header.Get("X-Amz-Bucket-Region"); region != "" && (code == http.StatusMovedPermanently || code == http.StatusBadRequest) {
		return fmt.Errorf("%w: the bucket is in region %.40s", err, region)
	}
	return err
}

// status is the status of the response that the SDK calls an error, or 0.
func status(err error) int {
	if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return answer.HTTPStatusCode()
	}
	return 0
}

// credentials are those of a provider, which has tried several times if it fails.
type credentials struct{ aws.CredentialsProvider }

func (c credentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.CredentialsProvider.Retrieve(ctx)
	if err != nil && ctx.Err() == nil {
		return found, &credentialsError{response.Public(err)}
	}
	return found, err
}

type credentialsError struct{ err error }

func (e *credentialsError) Error() string { return "no credentials: " + e.err.Error() }
func (e *credentialsError) Unwrap() error { return e.err }
