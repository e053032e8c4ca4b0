// Package translation translates answers about the air into the language that a client prefers.
package translation

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"vayu/internal/httpapi"
	"vayu/schema/advice"
	"vayu/schema/naqi"
)

// translation has the fields health of all categories in English and in another language.
type translation struct {
	english, other [][]byte
	header         map[string][]string
}

// load makes the translations on the first call. A health statement that is not UTF-8 would panic; tests use all of them.
var load = sync.OnceValue(func() map[advice.Language]*translation {
	field := func(text string) []byte {
		value, err := json.Marshal(text)
		if err != nil {
			panic("query/translation: a health statement is not valid: " + err.Error())
		}
		return append([]byte(`"health":`), value...)
	}
	all := map[advice.Language]*translation{}
	for _, language := range advice.Languages {
		t := &translation{header: map[string][]string{"Content-Language": {string(language)}, "Vary": {"Accept-Language"}}}
		for _, category := range naqi.Categories() {
			text, _ := advice.Of(category, language)
			t.english, t.other = append(t.english, field(naqi.Health(category))), append(t.other, field(text.Statement))
		}
		all[language] = t
	}
	return all
})

// Detail returns an answer with view=detail in the language that the client prefers. Only the field health has a
// language. The names of categories are values of the contract, which clients compare. A string in JSON has no plain
// quotes, so the name of a station is never taken for the field.
func Detail(r *http.Request, resp httpapi.Response) httpapi.Response {
	language := advice.English
	if accept := r.Header.Values("Accept-Language"); len(accept) > 0 {
		language = advice.Nearest(strings.Join(accept, ","))
	}
	t := load()[language]
	if language != advice.English {
		body := resp.Body
		for i, english := range t.english {
			body = bytes.ReplaceAll(body, english, t.other[i])
		}
		made := httpapi.Ready(body, time.Time{}) // If-Modified-Since knows no languages
		made.Measured, made.DataAge, made.Stale, made.Cache = resp.Measured, resp.DataAge, resp.Stale, resp.Cache
		resp = made
	}
	resp.Header = t.header
	return resp
}
