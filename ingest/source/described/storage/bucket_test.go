package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/google/go-cmp/cmp"

	"vayu/ingest/fetch"
)

// variable has the URL of an object storage with its keys; .ci/s3 starts one and prints it.
const variable = "VAYU_TEST_S3"

// realBucket returns a new bucket of a storage that checks signatures.
func realBucket(t *testing.T) Bucket {
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
	secret, _ := u.User.Password()
	b := Bucket{
		Client: client{fetch.New(time.Minute, 1<<20)}, Name: fmt.Sprintf("vayu-%d", time.Now().UnixNano()), Region: "us-east-1",
		Endpoint: u.Scheme + "://" + u.Host, AccessKey: u.User.Username(), SecretKey: secret, Clean: clean, Limit: 1 << 20,
	}
	put(t, &b, "", "")
	return b
}

func clean(text string) string { return text }

// client is a client without a budget.
type client struct{ *fetch.Client }

// Get implements [Client].
func (c client) Get(ctx context.Context, r fetch.Request) (*fetch.Reply, error) { return c.Do(ctx, r) }

// Download implements [Client].
func (c client) Download(ctx context.Context, r fetch.Request, to *os.File, limit int64) (*fetch.Reply, bool, error) {
	return c.Client.Download(ctx, r, to, limit)
}

// put stores a file, or creates the bucket for the key "".
func put(t *testing.T, b *Bucket, key, text string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPut, b.request(key, nil).URL, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:])
	r.Header.Set("X-Amz-Content-Sha256", hash)
	keys := aws.Credentials{AccessKeyID: b.AccessKey, SecretAccessKey: b.SecretKey}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(t.Context(), keys, r, hash, "s3", b.Region, time.Now()); err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		t.Fatalf("storing %q: status %d", key, reply.StatusCode)
	}
}

// TestRealStorage lists and reads 2,500 files of a storage that checks signatures, which gives
// them in three pages.
func TestRealStorage(t *testing.T) {
	t.Parallel()
	b := realBucket(t)
	ctx := t.Context()
	const files = 2500
	for i := range files {
		put(t, &b, fmt.Sprintf("records/location=%d/a b+%%é.csv", i), "x")
	}
	put(t, &b, "other/y.csv", "y")
	put(t, &b, "large.csv", strings.Repeat("x", 1<<20+1))
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
	count = 0
	if err := b.List(ctx, "records/location=7/a b+", func(Object) error { count++; return nil }); err != nil || count != 1 {
		t.Errorf("%d files below a prefix with a blank, error %v, want 1", count, err)
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
}

// TestRefusedByRealStorage checks that an error has the storage's reason and a remedy.
func TestRefusedByRealStorage(t *testing.T) {
	t.Parallel()
	b := realBucket(t)
	for name, c := range map[string]struct {
		change func(*Bucket)
		want   string
	}{
		"wrong key":    {func(b *Bucket) { b.SecretKey = "another-secret" }, "SignatureDoesNotMatch: "},
		"no key":       {func(b *Bucket) { b.AccessKey, b.SecretKey = "", "" }, "AccessDenied: "},
		"wrong region": {func(b *Bucket) { b.Region = "ap-south-1" }, "set files.region to the region of the bucket"},
		"no bucket":    {func(b *Bucket) { b.Name = "none" }, "check files.bucket and files.endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := b
			c.change(&other)
			err := other.List(t.Context(), "", func(Object) error { return nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestSignature compares the signatures of a fixed time with recorded ones. A program of its
// own computed the same ones, and the storage of [TestRealStorage] accepts their like.
func TestSignature(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := Bucket{Name: "archive.example", Region: "ap-south-1", AccessKey: "AKIDEXAMPLE", SecretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
		var got []string
		for _, r := range []fetch.Request{
			b.request("", url.Values{"list-type": {"2"}, "prefix": {"year=2026/a b"}}), b.request("year=2026/a b+é.csv", nil),
		} {
			signed, err := http.NewRequest(http.MethodGet, r.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Sign(signed); err != nil {
				t.Fatal(err)
			}
			got = append(got, signed.URL.String(), signed.Header.Get("X-Amz-Date"), signed.Header.Get("Authorization"))
		}
		want, err := os.ReadFile("testdata/signatures.txt")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), strings.Join(got, "\n")+"\n"); diff != "" {
			t.Errorf("requests (-recorded +got):\n%s", diff)
		}
	})
}

// TestHostileStorage checks a storage that redirects, repeats a page, or gives something else.
func TestHostileStorage(t *testing.T) {
	t.Parallel()
	page := func(key string) string {
		return `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken><EncodingType>url</EncodingType><Contents><Key>` + key + `</Key></Contents></ListBucketResult>`
	}
	for name, c := range map[string]struct {
		status   int
		location string
		body     string
		want     string
	}{
		"repeated page":  {http.StatusOK, "", page("a.csv"), "lists a page twice"},
		"wrong encoding": {http.StatusOK, "", page("%zz"), "invalid encoding"},
		"wrong region":   {http.StatusMovedPermanently, "", "<Error><Code>PermanentRedirect</Code><Message>Use the other endpoint.</Message></Error>", "set files.region"},
		"redirect":       {http.StatusFound, "http://169.254.169.254/", "", "redirect to another host"},
		"web page":       {http.StatusOK, "", "<html><body>Log in</html>", "HTML"},
		"no XML":         {http.StatusOK, "", "hello", "not a list of files"},
		"other XML":      {http.StatusOK, "", "<rss><channel/></rss>", "not a list of files"},
		"cut off":        {http.StatusOK, "", page("a.csv")[:80], "not a list of files"},
		"too large":      {http.StatusOK, "", strings.Repeat("x", 2<<20), "exceeds 1048576 bytes"},
		"entities":       {http.StatusOK, "", `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><ListBucketResult><Contents><Key>&b;</Key></Contents></ListBucketResult>`, "not a list of files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if c.location != "" {
					w.Header().Set("Location", c.location)
				}
				w.WriteHeader(c.status)
				_, _ = fmt.Fprint(w, c.body)
			}))
			t.Cleanup(server.Close)
			b := Bucket{Client: client{fetch.New(time.Minute, 1<<20)}, Name: "archive", Region: "ap-south-1", Endpoint: server.URL, Clean: clean, Limit: 1 << 20}
			err := b.List(t.Context(), "", func(Object) error { return nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestAddressOfAWS checks that a bucket of AWS is requested in path style in its region.
func TestAddressOfAWS(t *testing.T) {
	t.Parallel()
	b := Bucket{Name: "archive.example", Region: "ap-south-1"}
	if got, want := b.request("a/b=c d.csv", nil).URL, "https://s3.ap-south-1.amazonaws.com/archive.example/a/b%3Dc%20d.csv"; got != want {
		t.Errorf("request to %s, want %s", got, want)
	}
}
