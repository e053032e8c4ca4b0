package httpapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gorilla/mux"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"vayu/internal/apidoc"
	"vayu/internal/httpapi"
)

// document is the contract, schema/openapi.yaml, in a form in which replies can be checked.
type document struct {
	// operations has the operations by path template, such as /v1/sessions/{id}, and method.
	operations map[string]map[string]*operation
	// refusals has the error replies that any request can get, by status. A request with a path outside the
	// contract can get these replies too.
	refusals map[string]*reply
	router   *mux.Router // finds the path template of a path
}

// reference is a reference ($ref) to a component of the contract. In the contract, a reference can replace the
// description of a parameter, reply or header. Ref is empty if the description is not replaced.
type reference struct {
	Ref string `json:"$ref"`
}

type operation struct {
	Parameters []*parameter
	Responses  map[string]*reply
}

type parameter struct {
	reference

	In, Name string
}

// reply describes the replies that an operation sends with one status.
type reply struct {
	reference

	Headers map[string]*header
	Content map[string]*content
}

type header struct {
	reference

	Required bool
	Schema   struct{ Type any }
	compiled *jsonschema.Schema
}

type content struct{ compiled *jsonschema.Schema }

// contract returns the compiled contract. It is compiled once per test binary.
var contract = sync.OnceValues(func() (*document, error) {
	text, err := apidoc.Document()
	if err != nil {
		return nil, err
	}
	c, err := newCompiler(text)
	if err != nil {
		return nil, err
	}
	d, err := c.document(text)
	if err != nil {
		return nil, fmt.Errorf("reading the contract: %w", err)
	}
	return d, c.err
})

// compiler compiles the JSON schemas in the contract. It records the first error in err and continues.
type compiler struct {
	root       any
	schemas    *jsonschema.Compiler
	components struct {
		Parameters map[string]*parameter
		Headers    map[string]*header
		Responses  map[string]*reply
	}
	err error
}

const documentURL = "https://contract.invalid/openapi.json"

func newCompiler(text []byte) (*compiler, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading the contract: %w", err)
	}
	c := &compiler{root: root, schemas: jsonschema.NewCompiler()}
	c.schemas.DefaultDraft(jsonschema.Draft2020)
	c.schemas.AssertFormat()
	if err := c.schemas.AddResource(documentURL, root); err != nil {
		return nil, fmt.Errorf("reading the contract: %w", err)
	}
	return c, nil
}

// escape escapes a name for use in a JSON pointer (RFC 6901).
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// document parses the contract, and compiles the schemas of all replies.
func (c *compiler) document(text []byte) (*document, error) {
	var all struct {
		Paths      map[string]map[string]json.RawMessage
		Components any
	}
	all.Components = &c.components
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for name, h := range c.components.Headers {
		h.compiled = c.schema("/components/headers/" + name + "/schema")
	}
	c.replies(c.components.Responses, "/components/responses/")
	d := &document{operations: map[string]map[string]*operation{}, refusals: c.components.Responses, router: mux.NewRouter().SkipClean(true)}
	for template, members := range all.Paths {
		d.operations[template] = map[string]*operation{}
		delete(members, "parameters") // parameters of the path, which all its operations have
		for name, member := range members {
			o := new(operation)
			if err := json.Unmarshal(member, o); err != nil {
				return nil, fmt.Errorf("%s %s: %w", name, template, err)
			}
			c.replies(o.Responses, "/paths/"+escape(template)+"/"+name+"/responses/")
			for i, p := range o.Parameters {
				if p.Ref != "" {
					o.Parameters[i] = c.components.Parameters[path.Base(p.Ref)]
				}
			}
			d.operations[template][strings.ToUpper(name)] = o
		}
	}
	// Paths without parameters come first, so that d.template prefers /v1/sessions/current to /v1/sessions/{id}.
	for _, template := range slices.SortedFunc(maps.Keys(d.operations), func(a, b string) int { return strings.Count(a, "{") - strings.Count(b, "{") }) {
		d.router.Path(template)
	}
	return d, nil
}

// replies compiles the schemas of the replies below the JSON pointer `at`, and resolves their references.
func (c *compiler) replies(all map[string]*reply, at string) {
	for status, r := range all {
		if r.Ref != "" {
			all[status] = c.components.Responses[path.Base(r.Ref)]
			continue
		}
		headers := map[string]*header{}
		for name, h := range r.Headers {
			if h.Ref != "" {
				h = c.components.Headers[path.Base(h.Ref)]
			} else {
				h.compiled = c.schema(at + status + "/headers/" + name + "/schema")
			}
			headers[http.CanonicalHeaderKey(name)] = h
		}
		r.Headers = headers
		for name, one := range r.Content {
			one.compiled = c.schema(at + status + "/content/" + escape(name) + "/schema")
		}
	}
}

func (c *compiler) schema(at string) *jsonschema.Schema {
	s, err := c.schemas.Compile(documentURL + "#" + at)
	if c.err == nil && err != nil {
		c.err = fmt.Errorf("contract, %s: %w", at, err)
	}
	return s
}

// template returns the path template in the contract that matches a request's path, or "" if none does. A path
// parameter matches any non-empty segment.
func (d *document) template(name string) string {
	if rest, ok := strings.CutPrefix(name, httpapi.SessionPrefix+"/v1/"); ok {
		name = "/v1/" + rest // the prefix selects a browser session, not another endpoint
	}
	var match mux.RouteMatch
	if !d.router.Match(&http.Request{URL: &url.URL{Path: name}}, &match) {
		return ""
	}
	template, _ := match.Route.GetPathTemplate() // "" after an error
	return template
}

// value converts the text of a header for the check against its schema. If the schema requires an integer, and the text
// is an integer, value returns a json.Number. Otherwise it returns the text unchanged.
func (h *header) value(text string) any {
	n, err := strconv.ParseInt(text, 10, 64)
	if h.Schema.Type == "integer" && err == nil && strconv.FormatInt(n, 10) == text {
		return json.Number(text)
	}
	return text
}
