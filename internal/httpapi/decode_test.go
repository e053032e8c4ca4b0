package httpapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/httpapi"
	"vayu/schema"
)

type order struct {
	Name    string   `json:"name"`
	Small   int8     `json:"small"`
	Amount  float64  `json:"amount"`
	Active  bool     `json:"active"`
	Tags    []string `json:"tags"`
	Expires *string  `json:"expires"`
	Rows    []struct {
		Amount float64 `json:"amount"`
	} `json:"rows"`
	Any map[string]any `json:"any"`
}

func call(body string) *httpapi.Call {
	return &httpapi.Call{Request: &http.Request{}, Body: []byte(body)}
}

// refused returns the code, field and message of a problem, or "".
func refused(err error) string {
	if p, ok := errors.AsType[*schema.Problem](err); ok {
		return fmt.Sprint(p.Code, "|", p.Field, "|", p.Message)
	}
	return fmt.Sprint(err)
}

func TestWhatIsNotStrictJSONIsRefused(t *testing.T) {
	t.Parallel()
	nested := func(n int) string {
		return `{"any":{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}`
	}
	utf16 := []byte{0xff, 0xfe, '{', 0, '}', 0}
	for name, c := range map[string]struct{ body, want string }{
		"nothing":            {"", "invalid_request||The body is missing. Send a JSON object."},
		"blanks":             {" \n", "invalid_json||The body is not valid JSON in UTF-8: see byte 0."},
		"null":               {"null", "invalid_request||The body must be a JSON object."},
		"array":              {"[]", "invalid_request||The body must be a JSON object."},
		"number":             {"1", "invalid_request||The body must be a JSON object."},
		"text":               {`""`, "invalid_request||The body must be a JSON object."},
		"cut off":            {`{"name":"x"`, "invalid_json||The body is not valid JSON in UTF-8: see byte 11."},
		"name twice":         {`{"name":"a","name":"b"}`, "invalid_json|name|A name occurs twice in the same object, at byte 12."},
		"unknown name twice": {`{"x":1,"x":1}`, "invalid_json|x|A name occurs twice in the same object, at byte 7."},
		"twice, escaped":     {`{"x":1,"\u0078":1}`, "invalid_json|x|A name occurs twice in the same object, at byte 7."},
		"twice, deep":        {`{"rows":[{"amount":1},{"amount":1,"amount":2}]}`, "invalid_json|rows.1.amount|A name occurs twice in the same object, at byte 34."},
		"two values":         {`{}{}`, "invalid_json||The body must end after its JSON object."},
		"a word behind":      {`{} x`, "invalid_json||The body must end after its JSON object."},
		"NUL behind":         {"{}\x00", "invalid_json||The body must end after its JSON object."},
		"NUL":                {"\x00", "invalid_json||The body is not valid JSON in UTF-8: see byte 0."},
		"NUL in text":        {"{\"name\":\"a\x00\"}", "invalid_json||The body is not valid JSON in UTF-8: see byte 10."},
		"BOM":                {"\ufeff{}", "invalid_json||The body is not valid JSON in UTF-8: see byte 0."},
		"UTF-16":             {string(utf16), "invalid_json||The body is not valid JSON in UTF-8: see byte 0."},
		"bad UTF-8":          {"{\"name\":\"\xff\"}", "invalid_json||The body is not valid JSON in UTF-8: see byte 9."},
		"half a surrogate":   {`{"name":"\ud800"}`, "invalid_json||The body is not valid JSON in UTF-8: see byte 9."},
		"comment":            {`{/**/}`, "invalid_json||The body is not valid JSON in UTF-8: see byte 1."},
		"comma at the end":   {`{"name":"a",}`, "invalid_json||The body is not valid JSON in UTF-8: see byte 11."},
		"single quotes":      {`{'name':'a'}`, "invalid_json||The body is not valid JSON in UTF-8: see byte 1."},
		"leading zero":       {`{"small":01}`, "invalid_json||The body is not valid JSON in UTF-8: see byte 10."},
		"NaN":                {`{"amount":NaN}`, "invalid_json||The body is not valid JSON in UTF-8: see byte 10."},
		"deep":               {nested(31), "invalid_json||The body nests deeper than 32 levels."},
		"100,000 deep":       {nested(100_000), "invalid_json||The body nests deeper than 32 levels."},
		"open brackets":      {strings.Repeat("[", 100_000), "invalid_json||The body nests deeper than 32 levels."},
		"number for text":    {`{"name":1}`, "invalid_request|name|name must be a string."},
		"text for number":    {`{"amount":"1"}`, "invalid_request|amount|amount must be a number."},
		"text for boolean":   {`{"active":"true"}`, "invalid_request|active|active must be true or false."},
		"number for boolean": {`{"active":1}`, "invalid_request|active|active must be true or false."},
		"text for array":     {`{"tags":"a"}`, "invalid_request|tags|tags must be an array."},
		"object for array":   {`{"rows":{}}`, "invalid_request|rows|rows must be an array."},
		"array for object":   {`{"any":[]}`, "invalid_request|any|any must be an object."},
		"number in an array": {`{"tags":["a",1]}`, "invalid_request|tags.1|tags.1 must be a string."},
		"deep field":         {`{"rows":[{},{},{},{"amount":true}]}`, "invalid_request|rows.3.amount|rows.3.amount must be a number."},
		"number for pointer": {`{"expires":5}`, "invalid_request|expires|expires must be a string."},
		"too large":          {`{"small":128}`, "invalid_request|small|small is out of range."},
		"not whole":          {`{"small":1.5}`, "invalid_request|small|small must be a whole number."},
		"beyond float64":     {`{"amount":1e999}`, "invalid_request|amount|amount is out of range."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := httpapi.Decode[order](call(c.body))
			if diff := cmp.Diff(c.want, refused(err)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(order{}, got); diff != "" {
				t.Errorf("a refused body left something: %s", diff)
			}
		})
	}
}

func TestWhatIsStrictJSONIsRead(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]order{
		`{}`:                                  {},
		"\n{\"name\" : \"\\u0939\" }\r\n":     {Name: "ह"},
		`{"Name":"x","NAME":"y"}`:             {}, // names are case-sensitive
		`{"unknown":{"name":1},"small":-128}`: {Small: -128},
		`{"name":null,"small":null,"tags":null,"expires":null,"rows":null,"any":null}`: {},
		`{"amount":1e2}`: {Amount: 100},
	} {
		got, err := httpapi.Decode[order](call(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	deepest := `{"any":{"a":` + strings.Repeat("[", 30) + strings.Repeat("]", 30) + `}}`
	if _, err := httpapi.Decode[order](call(deepest)); err != nil {
		t.Errorf("32 levels: %v", err)
	}
	if _, err := httpapi.DecodeOptional[order](call("")); err != nil {
		t.Errorf("an optional body was missed: %v", err)
	}
	if _, err := httpapi.DecodeOptional[order](call("null")); refused(err) != "invalid_request||The body must be a JSON object." {
		t.Errorf("null as an optional body: %v", err)
	}
}

func TestDeepNestingNeedsLittleMemory(t *testing.T) {
	body := call(strings.Repeat("[", 8<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if _, err := httpapi.Decode[order](body); err == nil {
			t.Fatal("read")
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 100; each > 64<<10 {
		t.Errorf("%d bytes were allocated for one body", each)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range [...]string{`{}`, `{"name":"a","name":"b"}`, `{"rows":[{"amount":1}]}`, `{"any":{"a":[{"b":1,"b":2}]}}`, `{"\u0061":1,"a":2}`, "\ufeff{}", `{"a":1e999}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		whole, err := httpapi.Decode[map[string]any](&httpapi.Call{Body: body})
		if err == nil {
			d := json.NewDecoder(bytes.NewReader(body))
			if depth, err := unique(d); err != nil || depth > 32 {
				t.Fatalf("%q was taken: depth %d, %v", body, depth, err)
			}
			var same map[string]any
			if err := json.Unmarshal(body, &same); err != nil {
				t.Fatalf("encoding/json refuses %q: %v", body, err)
			}
			if !reflect.DeepEqual(same, whole) { // cmp.Diff does not terminate on deep values
				t.Fatalf("%q is %v, want %v", body, whole, same)
			}
		}
		if _, err := httpapi.Decode[order](&httpapi.Call{Body: body}); err != nil {
			if _, ok := errors.AsType[*schema.Problem](err); !ok {
				t.Fatalf("%q: %v is no problem", body, err)
			}
		}
	})
}

// unique reads one value and returns its depth. It fails for repeated names.
func unique(d *json.Decoder) (depth int, err error) {
	type level struct {
		names  map[string]bool
		isName bool
	}
	var open []level
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return depth, nil
		}
		if err != nil {
			return depth, err
		}
		top := len(open) - 1
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:top]
			continue
		}
		if top >= 0 && open[top].names != nil {
			if open[top].isName {
				name := token.(string)
				if open[top].names[name] {
					return depth, fmt.Errorf("%q stands twice", name)
				}
				open[top].names[name] = true
			}
			open[top].isName = !open[top].isName
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{map[string]bool{}, true})
		case json.Delim('['):
			open = append(open, level{})
		}
		depth = max(depth, len(open))
	}
}
