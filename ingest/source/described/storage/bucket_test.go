package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
)

// variable has the URL of an object storage with its keys; .ci/s3 starts one and prints it.
const variable = "VAYU_TEST_S3"

// realStorage returns the endpoint and the keys of a storage that checks signatures.
func realStorage(t *testing.T) (endpoint, accessKey, secretKey string) {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(variable + " is not set: CI needs an object storage")
		}
		t.Skip(variable + " is not set; .ci/s3 starts a storage and prints it")
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	secretKey, _ = u.User.Password()
	return u.Scheme + "://" + u.Host, u.User.Username(), secretKey
}

func clean(text string) string { return text }

// TestRealStorage lists and reads 2,500 files of a storage that checks signatures, which gives
// them in three pages.
func TestRealStorage(t *testing.T) {
	t.Parallel()
	endpoint, access, secret := realStorage(t)
	config := BucketConfig{
		Name: fmt.Sprintf("vayu-%d", time.Now().UnixNano()), Region: "us-east-1", Endpoint: endpoint, AccessKey: access, SecretKey: secret,
		Transport: http.DefaultTransport, Limit: 1 << 20, Timeout: time.Minute, Clean: clean,
	}
	b := NewBucket(config)
	ctx := t.Context()
	if _, err := b.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &config.Name}); err != nil {
		t.Fatal(err)
	}
	const files = 2500
	for i := range files {
		put(t, b, fmt.Sprintf("records/location=%d/a b+%%é.csv", i), "x")
	}
	put(t, b, "other/y.csv", "y")
	put(t, b, "large.csv", strings.Repeat("x", 1<<20+1))
	count := 0
	var last Object
	err := b.List(ctx, "records/", func(o Object) error {
		count++
		last = o
		return nil
	})
	if err != nil || count != files {
		t.Fatalf("%d files listed, error %v, want %d", count, err, files)
	}
	local, err := b.Open(ctx, last, "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(local.Path)
	if err != nil || string(text) != "x" || local.Version != last.Version {
		t.Errorf("content %q, version %q, error %v, want %q and %q", text, local.Version, err, "x", last.Version)
	}
	local.Close()
	if _, err := os.Stat(local.Path); !os.IsNotExist(err) {
		t.Errorf("the downloaded file remains: %v", err)
	}
	if _, err := b.Open(ctx, last, last.Version); !errors.Is(err, ErrUnchanged) {
		t.Errorf("error %v of an unchanged file, want %v", err, ErrUnchanged)
	}
	if _, err := b.Open(ctx, Object{Path: "none.csv"}, ""); !errors.Is(err, ErrMissing) {
		t.Errorf("error %v of a missing file, want %v", err, ErrMissing)
	}
	if _, err := b.Open(ctx, Object{Path: "large.csv"}, ""); err == nil || !strings.Contains(err.Error(), "exceeds 1048576 bytes") {
		t.Errorf("error %v of a large file, want that it is too large", err)
	}
	config.SecretKey = "another-secret"
	err = NewBucket(config).List(ctx, "", func(Object) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "SignatureDoesNotMatch") || !strings.Contains(err.Error(), "check files.access-key") {
		t.Errorf("error %v of a wrong key, want SignatureDoesNotMatch with a remedy", err)
	}
	config.AccessKey, config.SecretKey = "", ""
	if err := NewBucket(config).List(ctx, "", func(Object) error { return nil }); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("error %v without keys, want AccessDenied", err)
	}
}

func put(t *testing.T, b *Bucket, key, text string) {
	t.Helper()
	_, err := b.client.PutObject(context.Background(), &s3.PutObjectInput{Bucket: &b.name, Key: aws.String(key), Body: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
}

// roundTrip is a function as [http.RoundTripper].
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body))}
}

// TestSignature compares the requests of a fixed time with recorded ones, whose like the
// storage of [TestRealStorage] accepts.
func TestSignature(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		b := NewBucket(BucketConfig{
			Name: "archive", Region: "ap-south-1", AccessKey: "AKIDEXAMPLE", SecretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Limit: 1 << 20, Clean: clean,
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				got = append(got, r.Method+" "+r.URL.String()+"\n"+r.Header.Get("X-Amz-Date")+" "+r.Header.Get("Authorization"))
				if strings.Contains(r.URL.RawQuery, "list-type") {
					return reply(http.StatusOK, `<ListBucketResult><Name>archive</Name><IsTruncated>false</IsTruncated></ListBucketResult>`), nil
				}
				return reply(http.StatusOK, "x"), nil
			}),
		})
		b.client = s3.New(b.client.Options(), func(o *s3.Options) { // the signed ID of a request is random
			o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
				_, err := stack.Build.Remove((&awsmiddleware.ClientRequestID{}).ID())
				return err
			})
		})
		if err := b.List(t.Context(), "year=2026/", func(Object) error { return nil }); err != nil {
			t.Fatal(err)
		}
		local, err := b.Open(t.Context(), Object{Path: "year=2026/a b.csv"}, "")
		if err != nil {
			t.Fatal(err)
		}
		local.Close()
		want, err := os.ReadFile("testdata/signatures.txt")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), strings.Join(got, "\n")+"\n"); diff != "" {
			t.Errorf("requests (-recorded +got):\n%s", diff)
		}
	})
}

// TestHostileStorage checks a storage that redirects, repeats a page, or never ends.
func TestHostileStorage(t *testing.T) {
	t.Parallel()
	page := func(key string) string {
		return `<ListBucketResult><Name>archive</Name><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken><Contents><Key>` + key + `</Key></Contents></ListBucketResult>`
	}
	for name, c := range map[string]struct {
		answer func(calls int) *http.Response
		want   string
	}{
		"repeated page": {func(int) *http.Response { return reply(http.StatusOK, page("a.csv")) }, "lists a page twice"},
		"redirect": {func(int) *http.Response {
			r := reply(http.StatusMovedPermanently, `<Error><Code>PermanentRedirect</Code><Message>Use the other endpoint.</Message></Error>`)
			r.Header.Set("Location", "http://169.254.169.254/")
			return r
		}, "set files.region to the region of the bucket"},
		"web page":      {func(int) *http.Response { return reply(http.StatusOK, "<html><body>Log in</html>") }, "bucket"},
		"not a listing": {func(int) *http.Response { return reply(http.StatusOK, "no XML") }, "no list of files"},
		"slow down": {func(int) *http.Response {
			return reply(http.StatusServiceUnavailable, "<Error><Code>SlowDown</Code></Error>")
		}, "SlowDown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				b := NewBucket(BucketConfig{
					Name: "archive", Region: "ap-south-1", Limit: 1 << 20, Clean: clean,
					Transport: roundTrip(func(*http.Request) (*http.Response, error) {
						calls++
						return c.answer(calls), nil
					}),
				})
				err := b.List(t.Context(), "", func(Object) error { return nil })
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
				if calls > attempts {
					t.Errorf("%d requests, want at most %d", calls, attempts)
				}
			})
		})
	}
}

// TestRegionIsOneOfRequests checks that a bucket of AWS is requested in path style in its region.
func TestRegionIsOneOfRequests(t *testing.T) {
	t.Parallel()
	var got string
	b := NewBucket(BucketConfig{
		Name: "archive.example", Region: "ap-south-1", Limit: 1, Clean: clean,
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.Host + r.URL.Path
			return reply(http.StatusNotFound, "<Error><Code>NoSuchBucket</Code></Error>"), nil
		}),
	})
	_ = b.List(t.Context(), "", func(Object) error { return nil })
	if want := "s3.ap-south-1.amazonaws.com/archive.example"; strings.TrimSuffix(got, "/") != want {
		t.Errorf("request to %s, want %s", got, want)
	}
}
