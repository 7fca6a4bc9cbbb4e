// A Telegram that is not ours, of the npm package telegram-test-api in the folder of node modules that is named. Its first
// line says where it is, and each one after that that the bot did something.
const { createServer } = require("node:net");
const { join } = require("node:path");
const TelegramServer = require(join(process.argv[2], "telegram-test-api"));

const free = createServer().listen(0, "127.0.0.1", () => {
  const { port } = free.address();
  free.close(async () => {
    const server = new TelegramServer({ host: "127.0.0.1", port, storeTimeout: 3600 });
    await server.start();
    console.log(server.config.apiURL);
    for (const event of ["AddedBotMessage", "EditedMessageText"]) {
      server.on(event, () => console.log(event));
    }
  });
});
