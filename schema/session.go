package schema

// Session is a browser session of a key. Times are RFC 3339 in UTC, with seconds.
type Session struct {
	ID        string `json:"id"`
	KeyID     string `json:"key_id"`
	CreatedAt string `json:"created_at"`
	ExpiresAt string `json:"expires_at"`
	Client    string `json:"client"`  // IP address of the login
	Agent     string `json:"agent"`   // User-Agent of the browser
	Current   bool   `json:"current"` // it is the session of this call
}

// SessionReply is the reply about a created or ended session.
type SessionReply struct {
	Status string  `json:"status"`
	Data   Session `json:"data"`
}

// SessionsEnded is the reply of DELETE /v1/sessions.
type SessionsEnded struct {
	Status string `json:"status"`
	Ended  int    `json:"ended"` // number of ended sessions
}

// Identity is the reply of GET /v1/sessions/current: the caller's identity.
type Identity struct {
	Status string       `json:"status"`
	Data   IdentityData `json:"data"`
}

// IdentityData is an account, one of its keys, and the session. The session is nil
// if the call uses the key itself.
type IdentityData struct {
	Account IdentityAccount `json:"account"`
	Mode    string          `json:"mode"` // live or sandbox
	Key     IdentityKey     `json:"key"`
	Session *Session        `json:"session"`
}

// IdentityAccount is the public part of an account.
type IdentityAccount struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Plan string `json:"plan"`
}

// IdentityKey is the public part of a key, with its permissions.
type IdentityKey struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	LastFour string  `json:"last_four"`
	Scopes   []Scope `json:"scopes"`
}
