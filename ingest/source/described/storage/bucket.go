package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"vayu/ingest"
)

// Bucket is a bucket of an S3-compatible object storage.
type Bucket struct {
	name    string
	client  *s3.Client
	limit   int64
	timeout time.Duration
	clean   func(string) string
}

// BucketConfig configures a [Bucket].
type BucketConfig struct {
	Name     string
	Region   string
	Endpoint string // URL of a storage other than AWS; "" for AWS
	// AccessKey and SecretKey sign requests; both empty for a public bucket.
	AccessKey, SecretKey string
	Transport            http.RoundTripper
	Limit                int64         // of a file, in bytes
	Timeout              time.Duration // of one request with its reply
	Clean                func(string) string
}

// attempts is how often the client sends a request that fails with a status such as 503, or
// without a reply.
const attempts = 3

// NewBucket returns a bucket. It does not connect.
func NewBucket(c BucketConfig) *Bucket {
	options := s3.Options{
		Region: c.Region, Credentials: aws.AnonymousCredentials{},
		HTTPClient: &http.Client{
			Timeout: c.Timeout, Transport: c.Transport,
			// Another host must not get a signed request, and a wrong region is an error to report.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = attempts }),
		// Path style works with every storage and with names that have dots.
		UsePathStyle: true,
	}
	if c.AccessKey != "" {
		options.Credentials = credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey, "")
	}
	if c.Endpoint != "" {
		options.BaseEndpoint = aws.String(c.Endpoint)
	}
	return &Bucket{name: c.Name, client: s3.New(options), limit: c.Limit, timeout: c.Timeout, clean: c.Clean}
}

// List implements [Storage]. address is a prefix of keys.
func (b *Bucket) List(ctx context.Context, address string, visit func(Object) error) error {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &address})
	first := make(map[string]bool) // first keys of the pages
	for pages.HasMorePages() {
		began := time.Now()
		page, err := pages.NextPage(ctx)
		if err == nil && page.Name == nil && page.KeyCount == nil { // the client takes any text for an empty page
			err = &ingest.BatchError{Reason: ingest.BadReply, Detail: "the reply is no list of files"}
		}
		err = b.explain("listing the files", err)
		b.record(ctx, "ListObjectsV2 "+address, 0, began, err)
		if err != nil {
			return err
		}
		for i := range page.Contents {
			key, tag := aws.ToString(page.Contents[i].Key), aws.ToString(page.Contents[i].ETag)
			if i == 0 && first[key] {
				return &ingest.BatchError{Reason: ingest.BadReply, Detail: "the storage lists a page twice"}
			}
			first[key] = first[key] || i == 0
			if err := visit(Object{Path: key, Version: tag}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Open implements [Storage]. A version is the ETag.
func (b *Bucket) Open(ctx context.Context, o Object, known string) (*Local, error) {
	if known != "" && o.Version == known {
		return nil, ErrUnchanged
	}
	began := time.Now()
	size := int64(0)
	local, err := download(func(f *os.File) (string, error) {
		reply, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &o.Path})
		if err != nil {
			return "", err
		}
		defer reply.Body.Close()
		size = aws.ToInt64(reply.ContentLength)
		if size > b.limit {
			return "", tooLarge(b.limit)
		}
		return aws.ToString(reply.ETag), limited(f, reply.Body, b.limit)
	})
	var absent *types.NoSuchKey
	if errors.As(err, &absent) {
		err = ErrMissing
	} else {
		err = b.explain("reading a file", err)
	}
	b.record(ctx, "GetObject "+o.Path, size, began, err)
	if err != nil {
		return nil, err
	}
	return local, nil
}

// record adds a request to the recorder of the fetch.
func (b *Bucket) record(ctx context.Context, request string, size int64, began time.Time, err error) {
	e := ingest.Exchange{Request: b.clean(request), Status: http.StatusOK, Elapsed: time.Since(began)}
	if err != nil {
		e.Error, e.Status = b.clean(err.Error()), 0
		var status interface{ HTTPStatusCode() int }
		if errors.As(err, &status) {
			e.Status = status.HTTPStatusCode()
		}
	}
	ingest.RecorderOf(ctx).RecordFile(e, nil, size, b.clean)
}

// remedies are remedies of errors by their codes.
var remedies = map[string]string{
	"PermanentRedirect":                  "set files.region to the region of the bucket",
	"AuthorizationHeaderMalformed":       "set files.region to the region of the bucket",
	"IllegalLocationConstraintException": "set files.region to the region of the bucket",
	"NoSuchBucket":                       "check files.bucket and files.endpoint",
	"AccessDenied":                       "check files.access-key and files.secret-key",
	"InvalidAccessKeyId":                 "check files.access-key and files.secret-key",
	"SignatureDoesNotMatch":              "check files.access-key and files.secret-key",
}

// bucketError is an error of the storage with its remedy.
type bucketError struct {
	err  error
	text string
}

// Error implements error.
func (e *bucketError) Error() string { return e.text }

// Unwrap returns the cause, so that errors.Is and errors.As see it.
func (e *bucketError) Unwrap() error { return e.err }

// explain returns an error that names the bucket and a remedy; nil for nil. The client's own
// texts have internal numbers of the storage.
func (b *Bucket) explain(doing string, err error) error {
	var refused *ingest.BatchError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	text := fmt.Sprintf("%s of bucket %q: ", doing, b.name)
	var api smithy.APIError
	switch {
	case errors.As(err, &api):
		text += api.ErrorCode() + ": " + strings.TrimRight(api.ErrorMessage(), ".")
		if remedy := remedies[api.ErrorCode()]; remedy != "" {
			text += "; " + remedy
		}
	case errors.Is(err, io.ErrUnexpectedEOF):
		text += "the reply was cut off"
	default:
		text += err.Error()
	}
	return &bucketError{err, text}
}
