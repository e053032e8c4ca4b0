package public

import (
	_ "embed" // widget.js
	"time"

	"vayu/internal/httpapi"
)

const scriptType = "text/javascript"

// Without the charset, a page that declares no encoding would read the script in an encoding other than UTF-8.
const scriptContent = scriptType + "; charset=utf-8"

//go:embed widget.js
var script []byte

// widget returns the handler of the script that shows the air of a city in a page of any origin.
func widget() handler {
	resp := httpapi.Ready(script, time.Time{})
	resp.Type, resp.Cache = []string{scriptContent}, lasting(time.Hour)
	return func(*request) (httpapi.Response, uint32, error) { return resp, 0, nil }
}
