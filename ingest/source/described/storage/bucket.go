package storage

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"vayu/ingest"
	"vayu/ingest/fetch"
)

// Bucket is a bucket of an S3-compatible object storage. It sends the requests GetObject and ListObjectsV2. The bucket
// is in the path of the URLs, not in the host. That works with every storage, and with names of buckets that contain
// dots.
type Bucket struct {
	Client   Client
	Name     string
	Region   string
	Endpoint string // URL of a storage other than AWS; "" for AWS
	// AccessKey and SecretKey are the keys with which requests are signed. For a public bucket, both are "".
	AccessKey, SecretKey string
	Clean                func(string) string // removes secrets from a text
	Limit                int64               // largest size of a file in bytes
}

// emptyHash is the SHA-256 of an empty text. A signed request must state the hash of its body, and these requests have
// none.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// request returns a request for the object with the given key. If the key is "", it is a request for the bucket itself.
func (b *Bucket) request(key string, query url.Values) fetch.Request {
	endpoint := b.Endpoint
	if endpoint == "" {
		endpoint = "https://s3." + b.Region + ".amazonaws.com"
	}
	address := strings.TrimRight(endpoint, "/") + "/" + b.Name
	if key != "" {
		address += "/" + httpbinding.EscapePath(key, false)
	}
	if len(query) > 0 {
		address += "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
	}
	r := fetch.Request{URL: address, Clean: b.Clean}
	if b.AccessKey != "" {
		r.Sign = b.sign
	}
	return r
}

// sign signs a request with AWS Signature Version 4.
func (b *Bucket) sign(r *http.Request) error {
	r.Header.Set("X-Amz-Content-Sha256", emptyHash)
	keys := aws.Credentials{AccessKeyID: b.AccessKey, SecretAccessKey: b.SecretKey}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // S3 escapes a path once
	if err := signer.SignHTTP(r.Context(), keys, r, emptyHash, "s3", b.Region, time.Now()); err != nil {
		return fmt.Errorf("signing a request: %w", err)
	}
	return nil
}

// listing is a reply of ListObjectsV2.
type listing struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Encoding string   `xml:"EncodingType"`
	Next     string   `xml:"NextContinuationToken"`
	More     bool     `xml:"IsTruncated"`
	Contents []struct {
		Key  string `xml:"Key"`
		ETag string `xml:"ETag"`
	} `xml:"Contents"`
}

// List implements [Storage]. The address is the prefix of the keys to list.
func (b *Bucket) List(ctx context.Context, address string, visit func(Object) error) error {
	query := url.Values{"list-type": {"2"}, "prefix": {address}, "encoding-type": {"url"}}
	first := make(map[string]bool) // first key of each page, to detect repeated pages
	for {
		reply, err := b.Client.Get(ctx, b.request("", query))
		if err != nil {
			return b.explain("listing the files", err)
		}
		var page listing
		if err := xml.NewDecoder(bytes.NewReader(reply.Body)).Decode(&page); err != nil {
			return ingest.BadReplyf("the reply of the storage is not a list of files: %s", b.Clean(err.Error()))
		}
		for i, file := range page.Contents {
			key := file.Key
			if page.Encoding == "url" {
				if key, err = url.QueryUnescape(key); err != nil {
					return ingest.BadReplyf("the storage lists a key with an invalid encoding")
				}
			}
			if i == 0 && first[key] {
				return ingest.BadReplyf("the storage lists a page twice")
			}
			first[key] = first[key] || i == 0
			if err := visit(Object{Path: key, Version: file.ETag}); err != nil {
				return err
			}
		}
		if !page.More || page.Next == "" {
			return nil
		}
		query.Set("continuation-token", page.Next)
	}
}

// Open implements [Storage]. The version of an object is its ETag.
func (b *Bucket) Open(ctx context.Context, o Object, known string) (*Local, error) {
	if known != "" && o.Version == known {
		return nil, ErrUnchanged
	}
	local, err := download(func(f *os.File) (string, error) {
		reply, _, err := b.Client.Download(ctx, b.request(o.Path, nil), f, b.Limit)
		if err != nil {
			return "", err
		}
		return reply.Validators.ETag, nil
	})
	if missing(err) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, b.explain("reading a file", err)
	}
	return local, nil
}

// remedies maps error codes of the storage to what the operator can do.
var remedies = map[string]string{
	"PermanentRedirect":                  "set files.region to the region of the bucket",
	"AuthorizationHeaderMalformed":       "set files.region to the region of the bucket",
	"IllegalLocationConstraintException": "set files.region to the region of the bucket",
	"NoSuchBucket":                       "check files.bucket and files.endpoint",
	"AccessDenied":                       "check files.access-key and files.secret-key",
	"InvalidAccessKeyId":                 "check files.access-key and files.secret-key",
	"SignatureDoesNotMatch":              "check files.access-key and files.secret-key",
	"RequestTimeTooSkewed":               "set the clock of this machine",
}

// reasonOf matches the code and the message in the body of an error reply, which may be truncated.
var reasonOf = regexp.MustCompile(`<Code>([A-Za-z]{1,100})</Code>\s*<Message>([^<]{0,300})`)

// explain adds the name of the bucket to an error. If the reply of the storage has an error code, explain also adds the
// code, the message, and the remedy if there is one.
func (b *Bucket) explain(doing string, err error) error {
	err = fmt.Errorf("%s of bucket %q: %w", doing, b.Name, err)
	failed, ok := errors.AsType[*fetch.StatusError](err)
	if !ok {
		return err
	}
	reason := reasonOf.FindSubmatch(failed.Body)
	if reason == nil {
		return err
	}
	err = fmt.Errorf("%w, %s: %s", err, reason[1], strings.TrimRight(b.Clean(html.UnescapeString(string(reason[2]))), "."))
	if remedy := remedies[string(reason[1])]; remedy != "" {
		err = fmt.Errorf("%w; %s", err, remedy)
	}
	return err
}
