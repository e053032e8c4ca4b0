package providers

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The API key of simulators, and the signature secret of both directions.
const (
	Key    = "simulator-key"
	Secret = "simulator-secret"
)

// Fill returns a simulator's description with its URL, key and secret.
func Fill(description, url string) string {
	return strings.NewReplacer("URL", url, "KEY", Key, "SECRET", Secret).Replace(description)
}

// mostBody is the limit of a request body in bytes.
const mostBody = 64 << 10

// Admit authenticates a request: the key, and a signature over time, method, path and body
// that is at most a minute old. It returns false for a refused request, which it has answered.
// The body remains readable.
func Admit(w http.ResponseWriter, r *http.Request, now time.Time) bool {
	refuse := func(status int, code string) bool {
		Reply(w, status, map[string]string{"code": code})
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	stamp := r.Header.Get("X-Timestamp")
	at, timeErr := strconv.ParseInt(stamp, 10, 64)
	age := now.Sub(time.Unix(at, 0)).Abs()
	want := sign(stamp + "." + r.Method + "." + r.URL.EscapedPath() + "." + string(body))
	switch {
	case err != nil:
		return refuse(http.StatusRequestEntityTooLarge, "TOO_LARGE")
	case r.Header.Get("X-Api-Key") != Key:
		return refuse(http.StatusUnauthorized, "BAD_KEY")
	case !hmac.Equal([]byte(want), []byte(r.Header.Get("X-Signature"))) || timeErr != nil || age > time.Minute:
		return refuse(http.StatusUnauthorized, "BAD_SIGNATURE")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

func sign(text string) string {
	mac := hmac.New(sha256.New, []byte(Secret))
	_, _ = mac.Write([]byte(text)) // never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// Sign sets the headers of a simulator's callback.
func Sign(header http.Header, body []byte, now time.Time) {
	stamp := strconv.FormatInt(now.Unix(), 10)
	header.Set("Content-Type", "application/json")
	header.Set("X-Timestamp", stamp)
	header.Set("X-Signature", sign(stamp+"."+string(body)))
}
