// A host made of the official TypeScript client: lists, calls every tool given on standard input, and says what it got.
// Standard input: {"url", "secret", "calls": [[name, arguments], …]}. Standard output: one JSON object.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { url, secret, calls } = JSON.parse(readFileSync(0, "utf8"));
const headers = { Authorization: `Bearer ${secret}` };
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const client = new Client({ name: "relatum-test", version: "1" });
await client.connect(transport);

const listed = (await client.listTools()).tools.map((tool) => tool.name); // compiles the output schemas, too
const answers = {};
const said = [];

// "$name.path" in an argument stands for what the tool of that name answered last.
const filled = (value) => {
  if (Array.isArray(value)) return value.map(filled);
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one)]));
  }
  if (typeof value !== "string" || !value.startsWith("$")) return value;
  const [tool, ...path] = value.slice(1).split(".");
  return path.reduce((found, step) => found[step], answers[tool]);
};

for (const [name, given] of calls) {
  try {
    const result = await client.callTool({ name, arguments: filled(given) });
    const text = JSON.parse(result.content[0].text);
    answers[name] = text;
    const same = JSON.stringify(text) === JSON.stringify(result.structuredContent);
    said.push({ name, ok: text.ok, isError: result.isError ?? false, same, code: text.code ?? null });
  } catch (error) {
    said.push({ name, thrown: String(error.message), code: error.code ?? null });
  }
}
await client.close();
console.log(JSON.stringify({ listed, said }));
