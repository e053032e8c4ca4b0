package httpapi

// Who identifies a caller in the audit log: id of the key, id of the request, and address of the client.
type Who struct{ Key, Request, Client string }

// Who returns what identifies the caller of c in the audit log.
func (c *Call) Who() Who {
	who := Who{Key: c.Key, Request: c.ID}
	if c.Client.IsValid() {
		who.Client = c.Client.String()
	}
	return who
}
