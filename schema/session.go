package schema

// Session is a browser session of an API key. Times are RFC 3339 in UTC, in whole seconds.
type Session struct {
	ID        string `json:"id"`
	KeyID     string `json:"key_id"`
	CreatedAt string `json:"created_at"`
	ExpiresAt string `json:"expires_at"`
	Client    string `json:"client"`  // IP address of the login
	Agent     string `json:"agent"`   // User-Agent of the browser
	Current   bool   `json:"current"` // the caller uses this session
	// OtherKeyID is the id of the key of the other mode, to which the session can switch; nil for none.
	OtherKeyID *string `json:"other_key_id"`
}

// SessionReply is the reply to a request that creates or ends a session.
type SessionReply struct {
	Status string  `json:"status"`
	Data   Session `json:"data"`
}

// SessionsEnded is the reply to DELETE /v1/sessions.
type SessionsEnded struct {
	Status string `json:"status"`
	Ended  int    `json:"ended"` // number of ended sessions
}

// Identity is the reply to GET /v1/sessions/current: the identity of the caller.
type Identity struct {
	Status string       `json:"status"`
	Data   IdentityData `json:"data"`
}

// IdentityData is the caller's account, key and session. The session is nil if the caller sent a key.
type IdentityData struct {
	Account IdentityAccount `json:"account"`
	Mode    string          `json:"mode"` // live or sandbox
	Key     IdentityKey     `json:"key"`
	Session *Session        `json:"session"`
	Member  *IdentityMember `json:"member"` // nil unless a person has signed in with a link
}

// IdentityMember is the person who has signed in.
type IdentityMember struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Role  string `json:"role"`
}

// IdentityAccount has the public data of an account.
type IdentityAccount struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Plan string `json:"plan"`
}

// IdentityKey has the public data of a key, with the key's permissions.
type IdentityKey struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	LastFour string  `json:"last_four"`
	Scopes   []Scope `json:"scopes"`
}
