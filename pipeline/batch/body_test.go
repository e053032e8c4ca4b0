package batch_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/httpapi"
	"vayu/pipeline/batch"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// FuzzBody checks that the parsed records equal those of the body, byte for byte.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"recharges":[1]}`, ` { "a" : [1,{"recharges":2}] , "recharges" : [ null , "x" ,{}, [ ] ,1e5 ] ,"ref_id":"r"} `, `{"recharges":null,"ref_id":null}`,
		`{"recharges":"[1]"}`, `{"recharges":[{"a":"]"},"\\\"]"]}`, `{}`, `[`, `{"ref_id":"\u0000"}`, "{\"recharges\":[\"é\",\"\\u00e9\"]}",
		`{"recharges":` + records(250, `{"a":1}`) + `}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := &httpapi.Call{Request: &http.Request{URL: &url.URL{}}, Body: text}
		ref, chunks, err := batch.ParseBody(c, "recharges")
		if err != nil {
			if _, ok := err.(*schema.Problem); !ok { //nolint:errorlint // nothing may be around it
				t.Fatalf("%v is no refusal", err)
			}
			return
		}
		var got []json.RawMessage
		for _, chunk := range chunks {
			for _, value := range chunk {
				got = append(got, value)
			}
		}
		var names map[string]json.RawMessage
		var want []json.RawMessage
		if err := errors.Join(json.Unmarshal(text, &names), json.Unmarshal(names["recharges"], &want)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("records (-want +got):\n%s", diff)
		}
		if len(got) == 0 {
			t.Fatal("there are no records")
		}
		if _, there := names["ref_id"]; !there && ref != "" {
			t.Fatalf("the ref_id is %q", ref)
		}
	})
}

// FuzzRef checks that RefOf finds the same valid ref_id as a JSON decoder.
func FuzzRef(f *testing.F) {
	for _, seed := range []string{`{"ref_id":"a"}`, `{"a":{"ref_id":"b"},"ref_id":"c"}`, `{"ref_id":7}`, `{"ref_id":""}`, `"ref_id"`, `[{"ref_id":"a"}]`, `{"ref_id":"\n"}`, `{"x":`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		got := item.RefOf(record)
		if got == "" {
			return
		}
		var names map[string]json.RawMessage
		if err := json.Unmarshal(record, &names); err != nil {
			return // a truncated record may have a ref_id before its end
		}
		var want string
		if err := json.Unmarshal(names["ref_id"], &want); err != nil {
			t.Fatalf("got %q, but the ref_id of %s is no string: %v", got, record, err)
		}
		if want != got || !schema.IsRef(got) {
			t.Fatalf("got %q of %s, want %q, in the form of a reference", got, record, want)
		}
	})
}
