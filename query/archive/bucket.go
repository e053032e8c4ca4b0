package archive

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// Bucket is an archive in a bucket of an S3-compatible object storage. Requests are in path style. A run never
// replaces a file, because the name of each new file contains the name of the run. It only replaces the manifest, by
// a conditional write, which fails if another run has replaced the manifest since this run read it. A reader of the
// manifest therefore always sees a complete archive. A file is at most 5 GB, the limit of one PUT of S3.
type Bucket struct {
	Name, Prefix string // Prefix ends with a slash, or is empty

	client   *s3.Client
	timeouts timeouts
	run      string   // name of the run
	manifest *string  // ETag of the manifest that was read; nil for none
	put      []string // keys of files that are in no manifest yet
}

// timeouts determines the time limit of a request: `quiet` plus the transfer time of the file at the rate `slowest`.
type timeouts struct {
	quiet   time.Duration
	slowest int64 // bytes per second
}

func (t timeouts) limit(size int64) time.Duration {
	return t.quiet + time.Duration(size/t.slowest)*time.Second
}

// attempts is the maximum number of attempts of a request that fails for a temporary reason. The pauses between
// them grow to 20 seconds, so that the seven pauses together take a minute or two.
const attempts = 8

// NewBucket parses an address such as s3://bucket/prefix. `env` returns environment variables. The keys, the region
// and the endpoint come from the variables that AWS's tools read, too.
func NewBucket(address string, env func(string) string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("%q is no address such as s3://bucket/prefix", address)
	}
	b := &Bucket{Name: u.Host, Prefix: strings.Trim(u.Path, "/"), timeouts: timeouts{2 * time.Minute, 100_000}, run: strings.ToLower(rand.Text()[:10])}
	if b.Prefix != "" {
		b.Prefix += "/"
	}
	keys := aws.Credentials{AccessKeyID: env("AWS_ACCESS_KEY_ID"), SecretAccessKey: env("AWS_SECRET_ACCESS_KEY"), SessionToken: env("AWS_SESSION_TOKEN")}
	if (keys.AccessKeyID == "") != (keys.SecretAccessKey == "") {
		return nil, errors.New("set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither")
	}
	o := s3.Options{
		Region: "us-east-1", UsePathStyle: true, Credentials: aws.AnonymousCredentials{},
		Retryer:                    retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = attempts }),
		HTTPClient:                 awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = time.Minute }),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired, // not every storage knows newer checksums
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	if keys.AccessKeyID != "" {
		o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return keys, nil })
	}
	for _, name := range []string{"AWS_DEFAULT_REGION", "AWS_REGION"} {
		if region := env(name); region != "" {
			o.Region = region
		}
	}
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		if endpoint := env(name); endpoint != "" {
			o.BaseEndpoint = aws.String(strings.TrimRight(endpoint, "/"))
		}
	}
	b.client = s3.New(o)
	return b, nil
}

// failure converts the error of a request about a file to an error of this package.
func (b *Bucket) failure(path string, err error) error {
	if err == nil {
		return nil
	}
	place := "s3://" + b.Name + "/" + b.Prefix + path
	reply, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return fmt.Errorf("%s: %w", place, err)
	}
	switch reply.ErrorCode() {
	case "NoSuchBucket":
		return fmt.Errorf("there is no bucket %q", b.Name)
	case "NoSuchKey", "NotFound":
		return fmt.Errorf("%s: %w", place, ErrMissing)
	case "PreconditionFailed", "ConditionalRequestConflict":
		return fmt.Errorf("%s: %w", place, ErrBusy)
	}
	return fmt.Errorf("%s: %s: %s", place, reply.ErrorCode(), reply.ErrorMessage())
}

func (b *Bucket) key(path string) *string { return aws.String(b.Prefix + path) }

// body is the content of a reply. The request ends when the body is closed, or after its time limit.
type body struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (r *body) Close() error {
	defer r.end()
	return r.ReadCloser.Close()
}

// Open implements Place. For the manifest, it keeps the ETag, on which Commit makes its write conditional.
func (b *Bucket) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := fmt.Errorf("reading %s takes too long", path)
	timer := time.AfterFunc(b.timeouts.limit(0), func() { cancel(late) })
	reply, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.Name, Key: b.key(path)})
	if err != nil {
		timer.Stop()
		cancel(nil)
		return nil, b.failure(path, err)
	}
	timer.Reset(b.timeouts.limit(aws.ToInt64(reply.ContentLength)))
	if path == ManifestName {
		b.manifest = reply.ETag
	}
	return &body{reply.Body, func() { timer.Stop(); cancel(nil) }}, nil
}

// List implements Place.
func (b *Bucket) List(ctx context.Context) (map[string]int64, error) {
	all := map[string]int64{}
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.Name, Prefix: &b.Prefix})
	for pages.HasMorePages() {
		page, err := limited(ctx, b.timeouts.limit(0), func(ctx context.Context) (*s3.ListObjectsV2Output, error) { return pages.NextPage(ctx) })
		if err != nil {
			return nil, b.failure("", err)
		}
		for _, o := range page.Contents {
			if path := strings.TrimPrefix(aws.ToString(o.Key), b.Prefix); archived(path) {
				all[path] = aws.ToInt64(o.Size)
			}
		}
	}
	return all, nil
}

// limited runs a request with a time limit.
func limited[T any](ctx context.Context, limit time.Duration, request func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return request(ctx)
}

// Settle implements Place. A bucket has nothing to complete.
func (b *Bucket) Settle(context.Context) error { return nil }

// Begin implements Place. It takes no lock: if two runs overlap, the conditional write of the later manifest fails.
func (b *Bucket) Begin(context.Context) error { return nil }

// Put implements Place. It first writes the content to a temporary file, because a request begins with the length and
// the checksum of its body. It returns errors of `write`, of the file and of the bucket.
func (b *Bucket) Put(ctx context.Context, path string, write func(io.Writer) error) (Stored, error) {
	file, err := os.CreateTemp("", "vayu-archive-*")
	if err != nil {
		return Stored{}, err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }()
	hash := sha256.New()
	if err := write(io.MultiWriter(file, hash)); err != nil {
		return Stored{}, err
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return Stored{}, err
	}
	path = strings.TrimSuffix(path, ".parquet") + "-" + b.run + ".parquet"
	b.put = append(b.put, path)
	err = b.write(ctx, path, file, size, nil, nil)
	return Stored{Path: path, Bytes: size, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}

// write stores a file. `match` is the ETag that the present file must have. `absent` is "*" if there must be no such
// file. Either is nil for no condition.
func (b *Bucket) write(ctx context.Context, path string, body io.ReadSeeker, size int64, match, absent *string) error {
	_, err := limited(ctx, b.timeouts.limit(size), func(ctx context.Context) (*s3.PutObjectOutput, error) {
		return b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.Name, Key: b.key(path), Body: body, ContentLength: &size, IfMatch: match, IfNoneMatch: absent})
	})
	return b.failure(path, err)
}

// Commit implements Place.
func (b *Bucket) Commit(ctx context.Context, manifest []byte) error {
	var absent *string
	if b.manifest == nil {
		absent = aws.String("*")
	}
	err := b.write(ctx, ManifestName, bytes.NewReader(manifest), int64(len(manifest)), b.manifest, absent)
	put := b.put
	b.put = nil // even after an error, because the manifest may be stored all the same; then it lists these files
	if errors.Is(err, ErrBusy) {
		return b.refused(ctx, manifest, put, err)
	}
	return err
}

// refused handles the rejection of a new manifest. If an earlier attempt of this run has stored the manifest, but its
// reply was lost, refused returns nil. Otherwise it lets End remove the files of this run, except those in the
// present manifest.
func (b *Bucket) refused(ctx context.Context, manifest []byte, put []string, refusal error) error {
	in, err := b.Open(ctx, ManifestName)
	if err != nil {
		return errors.Join(refusal, err)
	}
	defer func() { _ = in.Close() }()
	present, err := parse(in)
	if err != nil {
		return errors.Join(refusal, err)
	}
	if own, err := parse(bytes.NewReader(manifest)); err == nil && present.Run == own.Run {
		return nil
	}
	b.put = slices.DeleteFunc(put, present.has)
	return refusal
}

// Remove implements Place.
func (b *Bucket) Remove(ctx context.Context, paths []string) error {
	for _, path := range paths {
		_, err := limited(ctx, b.timeouts.limit(0), func(ctx context.Context) (*s3.DeleteObjectOutput, error) {
			return b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.Name, Key: b.key(path)})
		})
		if err = b.failure(path, err); err != nil && !errors.Is(err, ErrMissing) {
			return err
		}
	}
	return nil
}

// End implements Place.
func (b *Bucket) End(ctx context.Context) error {
	orphans := b.put
	b.put = nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.timeouts.quiet)
	defer cancel()
	return b.Remove(ctx, orphans)
}
