package main

import (
	"context"
	"encoding/json"
)

// These are the methods of the Bot API that the plugin asks for, one function each, and no others.

func (b *bot) getMe(ctx context.Context) (me user, err error) {
	return me, b.call(ctx, "getMe", struct{}{}, &me)
}

// deleteWebhook makes Telegram keep the updates for getUpdates. Those that wait are kept.
func (b *bot) deleteWebhook(ctx context.Context) error {
	return b.call(ctx, "deleteWebhook", struct{}{}, nil)
}

// getUpdates waits for updates from offset on, which confirms all before.
func (b *bot) getUpdates(ctx context.Context, offset int64) (updates []update, err error) {
	return updates, b.call(ctx, "getUpdates", map[string]any{
		"offset": offset, "timeout": int(longPoll.Seconds()), "allowed_updates": []string{"message", "callback_query"},
	}, &updates)
}

func (b *bot) setMyCommands(ctx context.Context, commands []botCommand) error {
	return b.call(ctx, "setMyCommands", map[string]any{"commands": commands}, nil)
}

func (b *bot) sendMessage(ctx context.Context, m outgoing) (sent message, err error) {
	return sent, b.call(ctx, "sendMessage", m, &sent)
}

func (b *bot) editMessageText(ctx context.Context, m outgoing) error {
	return b.call(ctx, "editMessageText", m, nil)
}

// editMessageMedia makes a document of a message, so that one that is there already becomes it, and none is sent twice.
func (b *bot) editMessageMedia(ctx context.Context, chat, message int64, caption, name string, content []byte) error {
	media, err := json.Marshal(map[string]string{"type": "document", "media": "attach://document", "caption": caption})
	if err != nil {
		return err
	}
	kind, body, err := withDocument(map[string]string{"chat_id": number(chat), "message_id": number(message), "media": string(media)}, name, content)
	if err != nil {
		return err
	}
	return b.send(ctx, "editMessageMedia", kind, body, nil)
}

// sendChatAction shows for 5 s that the bot is writing. What comes too soon is let be: an answer waits for it.
func (b *bot) sendChatAction(ctx context.Context, to place) error {
	body, err := json.Marshal(outgoing{Chat: to.Chat, Thread: to.Thread, Action: "typing"})
	if err != nil {
		return err
	}
	return b.once(ctx, "sendChatAction", jsonBody, body, nil)
}

func (b *bot) getFile(ctx context.Context, id string) (f file, err error) {
	return f, b.call(ctx, "getFile", map[string]string{"file_id": id}, &f)
}

// answerCallbackQuery ends the wait of who pressed a button, with a text that is shown for a moment.
func (b *bot) answerCallbackQuery(ctx context.Context, id, text string) error {
	return b.call(ctx, "answerCallbackQuery", map[string]string{"callback_query_id": id, "text": text}, nil)
}
