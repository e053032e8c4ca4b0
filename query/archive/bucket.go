package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/encoding/httpbinding"
)

// Bucket is an archive in a bucket of an S3-compatible object storage. Requests are in path style. A run replaces files
// one by one, each atomically, and the manifest last. A file is at most 5 GB, the limit of one PUT of S3.
type Bucket struct {
	Name, Prefix         string // Prefix ends with a slash, or is empty
	Region, Endpoint     string
	AccessKey, SecretKey string // both empty for a bucket that needs no signature
	Token                string // of temporary keys; "" for none
	Client               *http.Client
}

// NewBucket parses an address such as s3://bucket/prefix. The function env returns variables of the environment, in
// which the keys, the region and the endpoint are: those that AWS's tools read.
func NewBucket(address string, env func(string) string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("%q is no address such as s3://bucket/prefix", address)
	}
	b := &Bucket{
		Name: u.Host, Prefix: strings.Trim(u.Path, "/"), Region: "us-east-1", Endpoint: env("AWS_ENDPOINT_URL_S3"),
		AccessKey: env("AWS_ACCESS_KEY_ID"), SecretKey: env("AWS_SECRET_ACCESS_KEY"), Token: env("AWS_SESSION_TOKEN"),
		Client: http.DefaultClient,
	}
	if b.Prefix != "" {
		b.Prefix += "/"
	}
	for _, name := range []string{"AWS_DEFAULT_REGION", "AWS_REGION"} {
		if region := env(name); region != "" {
			b.Region = region
		}
	}
	if b.Endpoint == "" {
		b.Endpoint = env("AWS_ENDPOINT_URL")
	}
	if b.Endpoint == "" {
		b.Endpoint = "https://s3." + b.Region + ".amazonaws.com"
	}
	b.Endpoint = strings.TrimRight(b.Endpoint, "/")
	if (b.AccessKey == "") != (b.SecretKey == "") {
		return nil, errors.New("set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither")
	}
	return b, nil
}

// emptySum is the SHA-256 of an empty body.
const emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// reasonOf finds the code and the message of an error of a storage.
var reasonOf = regexp.MustCompile(`<Code>([A-Za-z]{1,100})</Code>\s*<Message>([^<]{0,300})`)

// do sends a signed request. The caller closes the body of the reply.
func (b *Bucket) do(ctx context.Context, method, path string, body io.Reader, size int64, sum string) (*http.Response, error) {
	address := b.Endpoint + "/" + b.Name + "/" + httpbinding.EscapePath(b.Prefix+path, false)
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	r.ContentLength = size
	r.Header.Set("X-Amz-Content-Sha256", sum)
	if b.AccessKey != "" {
		keys := aws.Credentials{AccessKeyID: b.AccessKey, SecretAccessKey: b.SecretKey, SessionToken: b.Token}
		signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // S3 escapes a path once
		if err := signer.SignHTTP(ctx, keys, r, sum, "s3", b.Region, time.Now()); err != nil {
			return nil, fmt.Errorf("signing a request: %w", err)
		}
	}
	reply, err := b.Client.Do(r)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode/100 == 2 {
		return reply, nil
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode == http.StatusNotFound && method != http.MethodPut {
		text, _ := io.ReadAll(io.LimitReader(reply.Body, 4<<10)) // the code is enough
		if !strings.Contains(string(text), "NoSuchBucket") {
			return nil, fmt.Errorf("s3://%s/%s%s: %w", b.Name, b.Prefix, path, ErrMissing)
		}
		return nil, fmt.Errorf("there is no bucket %q", b.Name)
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, 4<<10))
	if m := reasonOf.FindSubmatch(text); err == nil && m != nil {
		return nil, fmt.Errorf("%s s3://%s/%s%s: status %d, %s: %s", method, b.Name, b.Prefix, path, reply.StatusCode, m[1], m[2])
	}
	return nil, fmt.Errorf("%s s3://%s/%s%s: status %d", method, b.Name, b.Prefix, path, reply.StatusCode)
}

// Open implements Place.
func (b *Bucket) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	reply, err := b.do(ctx, http.MethodGet, path, http.NoBody, 0, emptySum)
	if err != nil {
		return nil, err
	}
	return reply.Body, nil
}

// Begin implements Place. A bucket has nothing to prepare.
func (b *Bucket) Begin(context.Context) error { return nil }

// Put implements Place. The content is first in a temporary file, because its length and checksum precede it.
func (b *Bucket) Put(ctx context.Context, path string, write func(io.Writer) error) (Sum, error) {
	file, err := os.CreateTemp("", "vayu-archive-*")
	if err != nil {
		return Sum{}, err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }()
	hash := sha256.New()
	if err := write(io.MultiWriter(file, hash)); err != nil {
		return Sum{}, err
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return Sum{}, err
	}
	sum := Sum{Bytes: size, SHA256: hex.EncodeToString(hash.Sum(nil))}
	return sum, b.put(ctx, path, io.NopCloser(file), sum)
}

func (b *Bucket) put(ctx context.Context, path string, body io.Reader, sum Sum) error {
	reply, err := b.do(ctx, http.MethodPut, path, body, sum.Bytes, sum.SHA256)
	if err != nil {
		return err
	}
	return reply.Body.Close()
}

// Commit implements Place.
func (b *Bucket) Commit(ctx context.Context, manifest []byte, removed []string) error {
	hash := sha256.Sum256(manifest)
	sum := Sum{Bytes: int64(len(manifest)), SHA256: hex.EncodeToString(hash[:])}
	if err := b.put(ctx, ManifestName, strings.NewReader(string(manifest)), sum); err != nil {
		return err
	}
	for _, path := range removed {
		reply, err := b.do(ctx, http.MethodDelete, path, http.NoBody, 0, emptySum)
		if err == nil {
			err = reply.Body.Close()
		}
		if err != nil && !errors.Is(err, ErrMissing) {
			return fmt.Errorf("removing an old file: %w", err)
		}
	}
	return nil
}

// Abort implements Place. Files that were put stay, and the next run replaces them.
func (b *Bucket) Abort() error { return nil }
