package httpconnector

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// An arbitrary file is refused, or makes requests with JSON bodies.
func FuzzDescription(f *testing.F) {
	f.Add(simple)
	f.Add(withCallback)
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.Replace(text, "URL", "https://shop.example", 1)
		d, err := Parse(Source{File: "x.yaml", Text: []byte(text), Env: environment, ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist }}, testShape, nil)
		if err != nil {
			return
		}
		c := New(d, Options{})
		for _, spec := range d.calls {
			req, err := c.request(t.Context(), spec, values)
			if err != nil {
				continue
			}
			if req.URL.Hostname() != d.base.Hostname() {
				t.Errorf("a path leads from %s to %s", d.base, req.URL)
			}
			if spec.body != nil && !spec.isForm && utf8.ValidString(text) {
				if body, err := spec.body.AppendJSON(nil, values); err == nil && !jsontext.Value(body).IsValid() {
					t.Errorf("a body is %s", body)
				}
			}
		}
	})
}

// An unsigned callback is never accepted, and causes no panic.
func FuzzCallback(f *testing.F) {
	f.Add(callbackSignature, "1795004800", []byte(callbackBody), []byte(done))
	d, err := parse(strings.Replace(withCallback, "URL", "https://shop.example", 1))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, signature, stamp string, body, answer []byte) {
		reply, err := d.receive(http.Header{"X-Signature": {signature}, "X-Time": {stamp}}, body, noon)
		if err == nil && (signature != callbackSignature && !strings.EqualFold(signature, callbackSignature) || string(body) != callbackBody) {
			t.Errorf("%q was believed", body)
		}
		if err == nil && reply.Fields["reference"] == "" {
			t.Errorf("got %v", reply)
		}
		for name, c := range d.calls {
			if reply, err := c.answer.Read(200, answer); err == nil && reply.Items == nil && !testShape.Calls[name].List && reply.Fields["status"] == "" {
				t.Errorf("%q was understood as %v", answer, reply)
			}
		}
	})
}
