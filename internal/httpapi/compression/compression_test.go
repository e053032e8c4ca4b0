package compression_test

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"vayu/internal/httpapi/compression"
)

// decompress returns the plain body of a form.
func decompress(t *testing.T, encoding string, form []byte) string {
	t.Helper()
	var r io.Reader
	var err error
	switch encoding {
	case compression.Brotli:
		r = brotli.NewReader(bytes.NewReader(form))
	case compression.Gzip:
		r, err = gzip.NewReader(bytes.NewReader(form))
	case compression.Zstd:
		r, err = zstd.NewReader(bytes.NewReader(form))
	}
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func TestBodyIsCompressedOncePerEncoding(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("the air of Delhi ", 1000)
	forms := map[string]func(encoding string) []byte{"lazy": compression.Lazy([]byte(body)), "once": compression.Once([]byte(body))}
	for name, packed := range forms {
		for _, encoding := range []string{compression.Brotli, compression.Gzip, compression.Zstd} {
			t.Run(name+" "+encoding, func(t *testing.T) {
				t.Parallel()
				var forms [8][]byte
				var all sync.WaitGroup
				for i := range forms {
					all.Go(func() { forms[i] = packed(encoding) })
				}
				all.Wait()
				if got := decompress(t, encoding, forms[0]); got != body {
					t.Errorf("the form contains %d bytes, want the body of %d", len(got), len(body))
				}
				for i, form := range forms[1:] {
					if &form[0] != &forms[0][0] {
						t.Errorf("call %d compressed the body again", i+2)
					}
				}
			})
		}
	}
}

// Of encodings that a client prefers equally, brotli precedes gzip only for a body that is compressed once.
func TestPreferenceDependsOnHowOftenABodyIsCompressed(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string][2]string{ // each time, once
		"gzip, deflate, br": {compression.Gzip, compression.Brotli}, "gzip, br, zstd": {compression.Zstd, compression.Zstd},
		"gzip;q=0.5, br;q=0.6": {compression.Brotli, compression.Brotli}, "gzip, br;q=0.9": {compression.Gzip, compression.Gzip},
		"zstd;q=0, *": {compression.Gzip, compression.Brotli}, "br, identity": {compression.Brotli, compression.Brotli}, "br;q=0": {"", ""},
	} {
		headers := []string{accept}
		if got := [2]string{compression.Negotiate(headers, false), compression.Negotiate(headers, true)}; got != want {
			t.Errorf("%q: got %q, want %q", accept, got, want)
		}
	}
}
