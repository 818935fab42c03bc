import { Controller, Get, NotFoundException, Param } from '@nestjs/common';
import { asyncApiDocument } from '../messaging/contracts/asyncapi.ts';
import { openApiDocument } from './openapi/document.ts';
import { isProblemName, PROBLEM_TYPES, problemType } from './problem-types.ts';

const openApi = openApiDocument();
const asyncApi = asyncApiDocument();

/** What the service says of itself, to everybody: it holds nothing of any tenant. */
@Controller()
export class DocumentsController {
  @Get('v1/openapi.json')
  openApi() {
    return openApi;
  }

  @Get('v1/asyncapi.json')
  asyncApi() {
    return asyncApi;
  }

  /** Where the `type` of a problem leads. */
  @Get('problems/:name')
  problem(@Param('name') name: string) {
    if (!isProblemName(name)) throw new NotFoundException('no problem with this name');
    return { type: problemType(name), ...PROBLEM_TYPES[name] };
  }
}
