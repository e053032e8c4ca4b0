package httpapi

import (
	"math/rand/v2"
	"net/http"
)

// maxRequestID is the largest length of a request id that a client may choose. Logs and the audit log store the id.
const maxRequestID = 64

// requestID returns the client's X-Request-Id if it is valid, otherwise a new id. A valid id has 1–64 letters, digits,
// hyphens and underscores. It must not contain an API key, because ids are logged and stored in the audit log. New ids
// need no secure random numbers, because a request id gives no access to anything.
func requestID(r *http.Request) string {
	if given := r.Header["X-Request-Id"]; len(given) == 1 && validID(given[0]) && !keyText.MatchString(given[0]) {
		return given[0]
	}
	return newRequestID()
}

func newRequestID() string {
	const digits = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's base32
	id := [20]byte{'r', 'e', 'q', '_'}
	n := rand.Uint64()
	for i := 4; i < len(id); i++ {
		if i == 12 {
			n = rand.Uint64()
		}
		id[i] = digits[n&31]
		n >>= 5
	}
	return string(id[:])
}

func validID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
